//! Columns of relations that were read as batches.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, UInt32Array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::Result;

/// A column of all batches in one piece; `None` where there is no such column, or no batch.
///
/// # Errors
/// If the pieces do not fit together.
pub fn whole_column(batches: &[RecordBatch], name: &str) -> Result<Option<ArrayRef>> {
    let parts: Vec<&dyn Array> =
        batches.iter().filter_map(|batch| batch.column_by_name(name)).map(|array| array.as_ref()).collect();
    Ok(match parts.as_slice() {
        [] => None,
        parts => Some(concat(parts)?),
    })
}

/// As [`whole_column`], a column of numbers as doubles.
pub fn number_column(batches: &[RecordBatch], name: &str) -> Result<Option<Float64Array>> {
    let Some(column) = whole_column(batches, name)? else { return Ok(None) };
    Ok(Some(cast(&column, &DataType::Float64)?.as_primitive::<Float64Type>().clone()))
}

/// Some rows of a column, in ascending order of the rows; not copied where they follow one another.
pub fn rows_of(column: &dyn Array, rows: &[u32]) -> Result<ArrayRef> {
    // Rows are often stored graph by graph.
    if let (Some(&first), Some(&last)) = (rows.first(), rows.last())
        && (last - first) as usize == rows.len() - 1
    {
        return Ok(column.slice(first as usize, rows.len()));
    }
    Ok(take(column, &UInt32Array::from(rows.to_vec()), None)?)
}
