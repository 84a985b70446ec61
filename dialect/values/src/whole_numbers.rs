//! Arguments that are whole numbers, of any type of integers.

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Int64Type};
use bonnet_sql::{execution_error, sql_type};
use datafusion::common::Result;

/// The numbers of a column; an argument that was left out is all NULL.
pub(crate) fn whole_numbers(function: &str, argument: &str, column: &ArrayRef) -> Result<Int64Array> {
    let given = column.data_type();
    if !given.is_integer() && *given != DataType::Null {
        let given = sql_type(given);
        return Err(execution_error(format!("{function}: {argument} is {given}; it takes whole numbers, as BIGINT")));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(column, &DataType::Int64, &strict)?.as_primitive::<Int64Type>().clone())
}
