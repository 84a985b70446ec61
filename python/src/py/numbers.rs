//! Columns of numbers as bytes that NumPy takes as they are: one copy out of the batches.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use super::edges::{directed, undirected};
use super::stream::data_error;

/// A column: its dtype, its values, a byte a row that is 1 where the value is NULL (none without NULLs), and for a column
/// of lists the length of each as int64.
pub(super) type Column = (&'static str, Py<PyByteArray>, Option<Py<PyByteArray>>, Option<Py<PyByteArray>>);

/// NumPy's name of a type whose values lie one after another, and their width in bytes.
fn dtype(kind: &DataType) -> Option<(&'static str, usize)> {
    Some(match kind {
        DataType::Int8 => ("int8", 1),
        DataType::Int16 => ("int16", 2),
        DataType::Int32 => ("int32", 4),
        DataType::Int64 => ("int64", 8),
        DataType::UInt8 => ("uint8", 1),
        DataType::UInt16 => ("uint16", 2),
        DataType::UInt32 => ("uint32", 4),
        DataType::UInt64 => ("uint64", 8),
        DataType::Float16 => ("float16", 2),
        DataType::Float32 => ("float32", 4),
        DataType::Float64 => ("float64", 8),
        DataType::Date64 => ("datetime64[ms]", 8),
        DataType::Timestamp(TimeUnit::Second, None) => ("datetime64[s]", 8),
        DataType::Timestamp(TimeUnit::Millisecond, None) => ("datetime64[ms]", 8),
        DataType::Timestamp(TimeUnit::Microsecond, None) => ("datetime64[us]", 8),
        DataType::Timestamp(TimeUnit::Nanosecond, None) => ("datetime64[ns]", 8),
        DataType::Duration(TimeUnit::Second) => ("timedelta64[s]", 8),
        DataType::Duration(TimeUnit::Millisecond) => ("timedelta64[ms]", 8),
        DataType::Duration(TimeUnit::Microsecond) => ("timedelta64[us]", 8),
        DataType::Duration(TimeUnit::Nanosecond) => ("timedelta64[ns]", 8),
        _ => return None,
    })
}

/// A column of numbers, or of lists of numbers, of these batches; `None` of any other type.
pub(super) fn column(
    py: Python<'_>,
    batches: &[RecordBatch],
    index: usize,
    kind: &DataType,
) -> PyResult<Option<Column>> {
    let parts: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(index).clone()).collect();
    match kind {
        DataType::Boolean => {
            let parts = parts.iter().map(|part| cast(part, &DataType::UInt8)).collect::<Result<Vec<_>, _>>();
            Ok(Some(("bool", bytes(py, &parts.map_err(data_error)?, 1)?, nulls(py, &parts_of(batches, index))?, None)))
        }
        DataType::List(item) | DataType::FixedSizeList(item, _) => {
            let Some((name, width)) = dtype(item.data_type()) else { return Ok(None) };
            let list = DataType::LargeList(item.clone());
            let parts =
                parts.iter().map(|part| cast(part, &list)).collect::<Result<Vec<_>, _>>().map_err(data_error)?;
            let mut lengths = Vec::new();
            let mut values = Vec::with_capacity(parts.len());
            for part in &parts {
                let lists = part.as_list::<i64>();
                let offsets = lists.value_offsets();
                lengths.extend(offsets.windows(2).flat_map(|pair| (pair[1] - pair[0]).to_ne_bytes()));
                let (first, last) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
                let items = lists.values().slice(first, last - first);
                if items.null_count() > 0 {
                    return Ok(None);
                }
                values.push(items);
            }
            let lengths = PyByteArray::new(py, &lengths).unbind();
            Ok(Some((name, bytes(py, &values, width)?, nulls(py, &parts)?, Some(lengths))))
        }
        kind => match dtype(kind) {
            Some((name, width)) => Ok(Some((name, bytes(py, &parts, width)?, nulls(py, &parts)?, None))),
            None => Ok(None),
        },
    }
}

/// Two columns of integers without NULLs, numbers below `nodes`, as a (2, k) array of int64: as they are, or both ways, sorted
/// and each once. `None` of any other type, and where a number is not below `nodes`.
pub(super) fn edge_index<'py>(
    py: Python<'py>,
    batches: &[RecordBatch],
    (first, second): (usize, usize),
    nodes: u64,
    both: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut columns = Vec::with_capacity(batches.len());
    for batch in batches {
        let mut pair = [first, second].map(|index| Arc::clone(batch.column(index)));
        for part in &mut pair {
            if !part.data_type().is_integer() || part.data_type() == &DataType::UInt64 || part.null_count() > 0 {
                return Ok(None);
            }
            // None is copied that is of the type already.
            *part = cast(part, &DataType::Int64).map_err(data_error)?;
        }
        columns.push(pair);
    }
    let pieces: Vec<(&[i64], &[i64])> = columns.iter().map(|[first, second]| (values(first), values(second))).collect();
    if both { undirected(py, &pieces, nodes) } else { directed(py, &pieces, nodes) }
}

fn values(part: &ArrayRef) -> &[i64] {
    part.as_primitive::<Int64Type>().values()
}

fn parts_of(batches: &[RecordBatch], index: usize) -> Vec<ArrayRef> {
    batches.iter().map(|batch| batch.column(index).clone()).collect()
}

/// The values of arrays of a type of this width, one after another.
fn bytes(py: Python<'_>, parts: &[ArrayRef], width: usize) -> PyResult<Py<PyByteArray>> {
    let rows: usize = parts.iter().map(|part| part.len()).sum();
    let all = PyByteArray::new_with(py, rows * width, |all| {
        let mut at = 0;
        for part in parts {
            py.check_signals()?;
            let data = part.to_data();
            let length = part.len() * width;
            let start = data.offset() * width;
            all[at..at + length].copy_from_slice(&data.buffers()[0].as_slice()[start..start + length]);
            at += length;
        }
        Ok(())
    })?;
    Ok(all.unbind())
}

/// A byte a row, 1 where there is no value; `None` where there is one in every row.
fn nulls(py: Python<'_>, parts: &[ArrayRef]) -> PyResult<Option<Py<PyByteArray>>> {
    if parts.iter().all(|part| part.null_count() == 0) {
        return Ok(None);
    }
    let rows: usize = parts.iter().map(|part| part.len()).sum();
    let all = PyByteArray::new_with(py, rows, |all| {
        let flags = parts.iter().flat_map(|part| (0..part.len()).map(|row| part.is_null(row)));
        all.iter_mut().zip(flags).for_each(|(byte, null)| *byte = u8::from(null));
        Ok(())
    })?;
    Ok(Some(all.unbind()))
}
