//! From Arrow's columns to those of a picture.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Float64Type, SchemaRef, TimeUnit, TimestampMicrosecondType};
use arrow::util::display::ArrayFormatter;
use bonnet_pictures::{Column, Table, TextCoder, Values};

use super::flat;
use crate::cells::readable;

/// The rows that a picture is made of, at most: they are held in memory.
const MOST_ROWS: usize = 50_000_000;

/// The values of a column, by the way in which they are drawn.
enum Collected {
    Numbers(Vec<f64>),
    Times(Vec<f64>),
    Texts(TextCoder),
}

/// These rows as columns of numbers, times and texts. Lists of structs become rows, structs become columns.
///
/// # Errors
/// The text of what is wrong: rows too many, values that cannot be read.
pub fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Table, String> {
    let schema = flat::schema(schema);
    let mut columns: Vec<Collected> = schema.fields().iter().map(|field| collected(field.data_type())).collect();
    let mut rows = 0;
    for batch in batches {
        let batch = flat::flat(batch).map_err(|error| error.to_string())?;
        rows += batch.num_rows();
        if rows > MOST_ROWS {
            return Err(format!("a picture is made of at most {MOST_ROWS} rows: aggregate them, or take a sample"));
        }
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            push(column, array)?;
        }
    }
    let named = schema.fields().iter().zip(columns).map(|(field, column)| {
        let values = match column {
            Collected::Numbers(values) => Values::Numbers(values),
            Collected::Times(values) => Values::Times(values),
            Collected::Texts(coder) => coder.finish(),
        };
        Column::new(field.name(), values)
    });
    Ok(Table { columns: named.collect() })
}

fn collected(data_type: &DataType) -> Collected {
    match data_type {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Collected::Times(Vec::new()),
        DataType::Dictionary(_, value) => collected(value),
        DataType::Null => Collected::Numbers(Vec::new()),
        other if other.is_numeric() => Collected::Numbers(Vec::new()),
        _ => Collected::Texts(TextCoder::default()),
    }
}

fn push(column: &mut Collected, array: &ArrayRef) -> Result<(), String> {
    match column {
        Collected::Numbers(values) => {
            let array = cast(array, &DataType::Float64)?;
            values.extend(array.as_primitive::<Float64Type>().iter().map(|value| value.unwrap_or(f64::NAN)));
        }
        Collected::Times(values) => {
            let array = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
            let seconds = |value: Option<i64>| value.map_or(f64::NAN, |value| value as f64 / 1e6);
            values.extend(array.as_primitive::<TimestampMicrosecondType>().iter().map(seconds));
        }
        Collected::Texts(coder) => match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
                let array = cast(array, &DataType::Utf8)?;
                array.as_string::<i32>().iter().for_each(|text| coder.push(text));
            }
            _ => {
                let options = readable();
                let formatter = ArrayFormatter::try_new(array, &options).map_err(|error| error.to_string())?;
                for row in 0..array.len() {
                    match array.is_null(row) {
                        true => coder.push(None),
                        false => coder.push(Some(&formatter.value(row).to_string())),
                    }
                }
            }
        },
    }
    Ok(())
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, String> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BooleanArray, Date32Array, Decimal128Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn columns_are_numbers_times_or_texts() {
        let batch = RecordBatch::try_from_iter([
            ("n", Arc::new(Int64Array::from(vec![Some(3), None])) as ArrayRef),
            ("d", Arc::new(Decimal128Array::from(vec![150, -25]).with_precision_and_scale(5, 2).unwrap()) as ArrayRef),
            ("day", Arc::new(Date32Array::from(vec![1, 2])) as ArrayRef),
            ("b", Arc::new(BooleanArray::from(vec![Some(true), None])) as ArrayRef),
            ("s", Arc::new(StringArray::from(vec!["x", "x"])) as ArrayRef),
        ])
        .unwrap();
        let table = table(&batch.schema(), std::slice::from_ref(&batch)).unwrap();
        let Values::Numbers(n) = &table.columns[0].values else { panic!() };
        assert!(n[0] == 3.0 && n[1].is_nan());
        assert_eq!(table.columns[1].values, Values::Numbers(vec![1.5, -0.25]));
        assert_eq!(table.columns[2].values, Values::Times(vec![86_400.0, 172_800.0]));
        assert_eq!(table.columns[3].values, Values::texts([Some("true"), None]));
        assert_eq!(table.columns[4].values, Values::texts([Some("x"), Some("x")]));
    }
}
