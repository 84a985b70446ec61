//! `hex(value)` and `unhex(text)`: numbers and bytes in hexadecimal digits.
//!
//! Upstream: none known
//! Shows: `SELECT hex(255), hex('a')` gives `FF | 61`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, UInt64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function, sql_type};
use datafusion::common::Result;

use crate::whole_numbers::whole_numbers;

/// The registrations.
pub(crate) fn functions() -> [Function; 2] {
    [
        scalar_function("hex", DataType::Utf8, hex)
            .parameters([Parameter::column("value", "A whole number, a text or a BLOB.")])
            .returns("TEXT")
            .description(
                "The hexadecimal digits of a number, or of the bytes of a text or BLOB, in upper case. A negative number is \
                 that of its 64 bits. NULL for NULL. to_hex of a number has digits in lower case, as in PostgreSQL.",
            )
            .example("SELECT hex(255), hex('abc')")
            .source("DuckDB, text functions"),
        scalar_function("unhex", DataType::Binary, unhex)
            .parameters([Parameter::column("text", "Hexadecimal digits of either case; an odd number has a 0 in front.")])
            .returns("BLOB")
            .description("The bytes of hexadecimal digits; also from_hex. NULL for NULL.")
            .example("SELECT unhex('616263')")
            .source("DuckDB, text functions"),
    ]
}

fn hex(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let given = columns[0].data_type();
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let bytes = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let as_type = |to| cast_with_options(&columns[0], &to, &strict);
    let digits: StringArray = match given {
        DataType::UInt64 => {
            columns[0].as_primitive::<UInt64Type>().iter().map(|number| Some(format!("{:X}", number?))).collect()
        }
        given if given.is_integer() => {
            let numbers = whole_numbers("hex", "value", &columns[0])?;
            numbers.iter().map(|number| Some(format!("{:X}", number?))).collect()
        }
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            as_type(DataType::Utf8)?.as_string::<i32>().iter().map(|text| Some(bytes(text?.as_bytes()))).collect()
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            as_type(DataType::Binary)?.as_binary::<i32>().iter().map(|blob| Some(bytes(blob?))).collect()
        }
        other => {
            let other = sql_type(other);
            return Err(execution_error(format!("hex: the value is {other}; a whole number, a text or a BLOB")));
        }
    };
    Ok(Arc::new(digits))
}

fn unhex(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let texts = cast_with_options(&columns[0], &DataType::Utf8, &CastOptions::default())?;
    let bytes = texts.as_string::<i32>().iter().map(|text| text.map(bytes_of).transpose());
    Ok(Arc::new(bytes.collect::<Result<Vec<_>>>()?.iter().map(Option::as_deref).collect::<BinaryArray>()))
}

fn bytes_of(text: &str) -> Result<Vec<u8>> {
    let digits = text.chars().map(|digit| {
        let value = digit.to_digit(16).and_then(|value| u8::try_from(value).ok());
        value.ok_or_else(|| execution_error(format!("unhex: '{digit}' in '{text}' is no hexadecimal digit")))
    });
    let mut digits = digits.collect::<Result<Vec<u8>>>()?;
    if digits.len() % 2 == 1 {
        digits.insert(0, 0);
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
