//! The SQL name of an Arrow type.

use arrow::datatypes::{DataType, TimeUnit};

/// The name that SQL has for a type: `BIGINT`, `VARCHAR`, `DOUBLE[]`, `STRUCT(dim BIGINT, birth DOUBLE)`; types that SQL
/// has no name for keep Arrow's. A cast to the name of a number or a time gives that type again.
pub fn sql_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Null => "NULL".to_owned(),
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int8 => "TINYINT".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::UInt8 => "UTINYINT".to_owned(),
        DataType::UInt16 => "USMALLINT".to_owned(),
        DataType::UInt32 => "UINTEGER".to_owned(),
        DataType::UInt64 => "UBIGINT".to_owned(),
        DataType::Float16 | DataType::Float32 => "FLOAT".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "VARCHAR".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BLOB".to_owned()
        }
        DataType::Date32 | DataType::Date64 => "DATE".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".to_owned(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE".to_owned(),
        DataType::Timestamp(TimeUnit::Nanosecond, None) => "TIMESTAMP".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "TIMESTAMP(6)".to_owned(),
        DataType::Timestamp(TimeUnit::Millisecond, None) => "TIMESTAMP(3)".to_owned(),
        DataType::Timestamp(TimeUnit::Second, None) => "TIMESTAMP(0)".to_owned(),
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL".to_owned(),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => format!("DECIMAL({precision},{scale})"),
        DataType::Dictionary(_, value) => sql_type(value),
        DataType::RunEndEncoded(_, values) => sql_type(values.data_type()),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field) => format!("{}[]", sql_type(field.data_type())),
        DataType::FixedSizeList(field, size) => format!("{}[{size}]", sql_type(field.data_type())),
        DataType::Struct(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|field| format!("{} {}", field.name(), sql_type(field.data_type()))).collect();
            format!("STRUCT({})", fields.join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                format!("MAP({}, {})", sql_type(fields[0].data_type()), sql_type(fields[1].data_type()))
            }
            _ => data_type.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::Field;

    use super::*;

    #[test]
    fn types_have_the_names_of_sql() {
        let list = |inner: DataType| DataType::List(Arc::new(Field::new("item", inner, true)));
        assert_eq!(sql_type(&DataType::Int64), "BIGINT");
        assert_eq!(sql_type(&DataType::Utf8View), "VARCHAR");
        assert_eq!(sql_type(&list(list(DataType::Int64))), "BIGINT[][]");
        let pair = DataType::Struct(
            vec![Field::new("dim", DataType::Int64, true), Field::new("birth", DataType::Float64, true)].into(),
        );
        assert_eq!(sql_type(&list(pair)), "STRUCT(dim BIGINT, birth DOUBLE)[]");
        let entries = DataType::Struct(
            vec![Field::new("key", DataType::Int32, false), Field::new("value", DataType::Float32, true)].into(),
        );
        let map = DataType::Map(Arc::new(Field::new("entries", entries, false)), false);
        assert_eq!(sql_type(&map), "MAP(INTEGER, FLOAT)");
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        assert_eq!(sql_type(&dictionary), "VARCHAR");
        assert_eq!(sql_type(&DataType::Timestamp(TimeUnit::Nanosecond, None)), "TIMESTAMP");
    }

    #[test]
    fn a_cast_to_the_name_of_a_type_gives_the_type() {
        let session = crate::Engine::open(crate::EngineOptions::default()).unwrap().session();
        let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
        let integers = [DataType::Int8, DataType::Int16, DataType::Int32, DataType::Int64];
        let unsigned = [DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64];
        let others = [
            DataType::Boolean,
            DataType::Float32,
            DataType::Float64,
            DataType::Binary,
            DataType::Date32,
            DataType::Decimal128(12, 3),
            DataType::List(Arc::new(Field::new("item", DataType::UInt32, true))),
        ];
        let times = units.map(|unit| DataType::Timestamp(unit, None));
        for data_type in integers.into_iter().chain(unsigned).chain(others).chain(times) {
            let name = sql_type(&data_type);
            let schema = session.engine().block_on(session.describe(&format!("SELECT CAST(NULL AS {name}) AS x")));
            assert_eq!(schema.unwrap().unwrap().field(0).data_type(), &data_type, "{name}");
        }
    }
}
