//! The columns of a query as columns of a Delta table.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::{DataFusionError, Result, plan_err};

/// Characters that Spark refuses in the name of a column, so that a table with them could not be read there.
const FORBIDDEN: [char; 8] = [' ', ',', ';', '{', '}', '(', ')', '='];

/// The schema in which a Delta table keeps columns of this schema. Types that Delta lacks become the next one that
/// holds all their values: unsigned integers wider signed ones (UBIGINT becomes BIGINT, and a value beyond it an error),
/// half floats floats, views, large and fixed-size lists lists, dictionaries their values, timestamps microseconds
/// (nanoseconds are cut off), a column of NULLs strings.
///
/// # Errors
/// Names the column whose type or name Delta does not have, and what to write instead.
pub(super) fn storable(schema: &Schema) -> Result<SchemaRef> {
    let mut names = HashSet::new();
    let mut fields = Vec::with_capacity(schema.fields().len());
    if schema.fields().is_empty() {
        return plan_err!("a table needs a column");
    }
    for field in schema.fields() {
        let name = field.name();
        if name.is_empty() || name.contains(FORBIDDEN) || name.contains(['\n', '\t']) {
            return plan_err!(
                "a Delta table cannot have a column named \"{name}\": its names have no spaces and none of ,;{{}}()=; \
                 name it, as in SELECT count(*) AS runs"
            );
        }
        if !names.insert(name.to_lowercase()) {
            return plan_err!("a Delta table cannot have two columns named {name}, whatever their case: rename one");
        }
        fields.push(stored_field(field, name)?);
    }
    Ok(Arc::new(Schema::new(fields)))
}

fn stored_field(field: &Field, column: &str) -> Result<FieldRef> {
    let data_type = stored_type(field.data_type(), column)?;
    Ok(Arc::new(field.clone().with_data_type(data_type)))
}

fn stored_type(data_type: &DataType, column: &str) -> Result<DataType> {
    use DataType as T;
    let list = |field: &FieldRef| Ok::<_, DataFusionError>(T::List(stored_field(field, column)?));
    Ok(match data_type {
        T::Boolean | T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Float32 | T::Float64 => data_type.clone(),
        T::Utf8 | T::Binary | T::Date32 => data_type.clone(),
        T::UInt8 => T::Int16,
        T::UInt16 => T::Int32,
        T::UInt32 | T::UInt64 => T::Int64,
        T::Float16 => T::Float32,
        T::Null | T::LargeUtf8 | T::Utf8View => T::Utf8,
        T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Date64 => T::Date32,
        T::Timestamp(_, zone) => T::Timestamp(TimeUnit::Microsecond, zone.as_ref().map(|_| "UTC".into())),
        T::Decimal32(precision, scale) | T::Decimal64(precision, scale) | T::Decimal128(precision, scale)
            if *scale >= 0 =>
        {
            T::Decimal128(*precision, *scale)
        }
        T::Decimal256(precision, scale) if *precision <= 38 && *scale >= 0 => T::Decimal128(*precision, *scale),
        T::Dictionary(_, value) => stored_type(value, column)?,
        T::RunEndEncoded(_, values) => stored_type(values.data_type(), column)?,
        T::List(item) | T::LargeList(item) | T::ListView(item) | T::LargeListView(item) | T::FixedSizeList(item, _) => {
            list(item)?
        }
        T::Struct(fields) if !fields.is_empty() => {
            T::Struct(fields.iter().map(|field| stored_field(field, column)).collect::<Result<_>>()?)
        }
        T::Map(entries, _) => T::Map(stored_field(entries, column)?, false),
        other => {
            return plan_err!(
                "column {column}: a Delta table has no type for {other}; cast it, to TEXT or BIGINT for example"
            );
        }
    })
}

/// The rows with the columns, by position, in the types of this schema.
///
/// # Errors
/// If a value does not fit; names the column.
pub(super) fn stored(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |(column, field): (&ArrayRef, &FieldRef)| match column.data_type() == field.data_type() {
        true => Ok(Arc::clone(column)),
        false => cast_with_options(column, field.data_type(), &options).map_err(|error| {
            let text = format!("column {}: {error}", field.name());
            Raised::new(ErrorKind::of(&error.into()), text).into()
        }),
    };
    let columns = batch.columns().iter().zip(schema.fields()).map(cast).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, DictionaryArray, Float16Array, UInt32Array, UInt64Array};
    use arrow::datatypes::{Int32Type, Int64Type};

    use super::*;

    fn stored_column(data_type: DataType) -> Result<DataType> {
        let schema = storable(&Schema::new(vec![Field::new("x", data_type, true)]))?;
        Ok(schema.field(0).data_type().clone())
    }

    #[test]
    fn types_that_delta_lacks_become_types_that_hold_their_values() {
        use DataType as T;
        let item = |data_type| Arc::new(Field::new("item", data_type, true));
        for (given, expected) in [
            (T::UInt8, T::Int16),
            (T::UInt64, T::Int64),
            (T::Float16, T::Float32),
            (T::Utf8View, T::Utf8),
            (T::Null, T::Utf8),
            (T::FixedSizeList(item(T::UInt32), 3), T::List(item(T::Int64))),
            (T::LargeList(item(T::Utf8View)), T::List(item(T::Utf8))),
            (T::Dictionary(Box::new(T::Int32), Box::new(T::Utf8)), T::Utf8),
            (T::Timestamp(TimeUnit::Nanosecond, None), T::Timestamp(TimeUnit::Microsecond, None)),
            (
                T::Timestamp(TimeUnit::Second, Some("+02:00".into())),
                T::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            ),
            (T::Struct(vec![item(T::UInt16)].into()), T::Struct(vec![item(T::Int32)].into())),
        ] {
            assert_eq!(stored_column(given.clone()).unwrap(), expected, "{given}");
        }
    }

    #[test]
    fn columns_that_delta_cannot_have_are_named() {
        for data_type in [
            DataType::Duration(TimeUnit::Second),
            DataType::Time64(TimeUnit::Nanosecond),
            DataType::Interval(arrow::datatypes::IntervalUnit::DayTime),
            DataType::Decimal256(60, 0),
            DataType::List(Arc::new(Field::new("item", DataType::Duration(TimeUnit::Second), true))),
        ] {
            let error = stored_column(data_type).unwrap_err().to_string();
            assert!(error.contains("column x"), "{error}");
        }
        for (names, part) in [
            (vec!["count(*)"], "count(*)"),
            (vec!["a b"], "spaces"),
            (vec!["a", "A"], "two columns"),
            (vec![], "needs"),
        ] {
            let fields: Vec<_> = names.iter().map(|name| Field::new(*name, DataType::Int8, true)).collect();
            let error = storable(&Schema::new(fields)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn values_are_cast_or_refused_with_their_column() {
        let dictionary: DictionaryArray<Int32Type> = ["b", "a", "b"].into_iter().collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None, Some(0)]))),
            ("d", Arc::new(dictionary)),
            ("h", Arc::new(Float16Array::from(vec![None, None, None]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let schema = storable(&batch.schema()).unwrap();
        let rows = stored(&batch, &schema).unwrap();
        assert_eq!(rows.column(0).as_primitive::<Int64Type>().value(0), i64::from(u32::MAX));
        assert!(rows.column(0).is_null(1));
        assert_eq!(rows.column(1).as_string::<i32>().value(2), "b");

        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        let batch = RecordBatch::try_from_iter([("n", large)]).unwrap();
        let error = stored(&batch, &storable(&batch.schema()).unwrap()).unwrap_err().to_string();
        assert!(error.contains("column n") && error.contains("18446744073709551615"), "{error}");
    }
}
