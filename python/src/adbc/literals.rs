//! Values of Arrow as literals of SQL, and names as identifiers.

use adbc_core::error::Result;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bonnetdb::sql_type;

use super::invalid;

/// The value of a row as a literal that reads back as the same value.
///
/// # Errors
/// If SQL has no literal of the type.
pub(super) fn literal(array: &ArrayRef, row: usize) -> Result<String> {
    if array.is_null(row) || array.data_type() == &DataType::Null {
        return Ok("NULL".to_owned());
    }
    match array.data_type() {
        DataType::Float32 => Ok(float(f64::from(array.as_primitive::<Float32Type>().value(row)), "FLOAT")),
        DataType::Float64 => Ok(float(array.as_primitive::<Float64Type>().value(row), "DOUBLE")),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            let array = converted(array, &DataType::LargeBinary)?;
            let hex: String = array.as_binary::<i64>().value(row).iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(format!("X'{hex}'"))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(quoted(&text(array, row)?)),
        DataType::Boolean => text(array, row),
        kind if kind.is_integer() => Ok(format!("('{}'::{})", text(array, row)?, integer(kind))),
        // A cast to TIMESTAMPTZ has the session's time zone, if there is one.
        DataType::Timestamp(_, Some(_)) => {
            let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()));
            let moment = quoted(&text(&converted(array, &utc)?, row)?);
            Ok(format!("arrow_cast({moment}, 'Timestamp(Microsecond, Some(\"+00:00\"))')"))
        }
        DataType::Dictionary(_, values) => literal(&converted(array, values)?, row),
        DataType::List(_) => list(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(&array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(row)),
        kind if kind.is_decimal()
            || kind.is_temporal() && !matches!(kind, DataType::Duration(_) | DataType::Interval(_)) =>
        {
            let kind = sql_type(kind);
            Ok(format!("({}::{kind})", quoted(&text(array, row)?)))
        }
        other => Err(invalid(format!("a parameter of the type {other} has no literal in SQL"))),
    }
}

fn integer(kind: &DataType) -> &'static str {
    match kind {
        DataType::UInt64 => "UBIGINT",
        _ => "BIGINT",
    }
}

fn float(value: f64, kind: &str) -> String {
    let text = match value {
        value if value.is_nan() => "NaN".to_owned(),
        value if value.is_infinite() => if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        value => format!("{value:e}"),
    };
    format!("('{text}'::{kind})")
}

fn list(items: &ArrayRef) -> Result<String> {
    let items = (0..items.len()).map(|row| literal(items, row)).collect::<Result<Vec<_>>>()?;
    Ok(format!("[{}]", items.join(", ")))
}

/// A name in quotes.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn text(array: &ArrayRef, row: usize) -> Result<String> {
    let formatter = ArrayFormatter::try_new(array, &FormatOptions::default());
    Ok(formatter.map_err(|error| invalid(error.to_string()))?.value(row).to_string())
}

fn converted(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef> {
    cast(array, kind).map_err(|error| invalid(error.to_string()))
}
