//! Aggregates over columns of numbers: a number for the rows of a group.

use std::array;
use std::error::Error;
use std::sync::Arc;

use arrow::array::{AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_columns::GroupedRows;
use bonnet_graph::{Monitor, Reservation, Stopped};
use datafusion::common::Result;

use crate::adapters::rows_function::rows_function;
use crate::error::kernel_error;
use crate::registry::{Function, Parameter};

/// A number of the rows of a group, from `N` columns of equal length; `None` is NULL.
pub type NumberKernel<const N: usize, E> = fn([&[f64]; N], &dyn Monitor) -> Result<Option<f64>, E>;

/// The aggregate `name(...)` over `N` columns of numbers: a DOUBLE for the rows of each group. A row with a NULL does not
/// count; NaN and infinities reach the kernel ([`without_nan`] leaves them out). An error is given with the name.
pub fn number_aggregate<const N: usize, E: Error + 'static>(
    name: &'static str,
    columns: [(&'static str, &'static str); N],
    kernel: NumberKernel<N, E>,
) -> Function {
    rows_function(name, DataType::Float64, move |_| {
        Ok(Box::new(move |groups: &GroupedRows, monitor| {
            let columns = groups.columns().iter().map(|column| cast(column, &DataType::Float64));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let columns: [&[f64]; N] = array::from_fn(|i| &columns[i].as_primitive::<Float64Type>().values()[..]);
            let values = groups.map(|group| {
                kernel(columns.map(|column| &column[group.clone()]), monitor).map_err(|error| kernel_error(name, error))
            })?;
            Ok(Arc::new(Float64Array::from(values)))
        }))
    })
    .parameters(columns.map(|(column, text)| Parameter::number_column(column, text)))
    .returns("DOUBLE")
}

/// The kernel's number of the rows without a NaN.
///
/// # Errors
/// Those of the kernel; if memory runs out.
pub fn without_nan<const N: usize, T, E: From<Stopped>>(
    columns: [&[f64]; N],
    monitor: &dyn Monitor,
    kernel: impl FnOnce([&[f64]; N], &dyn Monitor) -> Result<T, E>,
) -> Result<T, E> {
    if !columns.iter().copied().flatten().any(|value| value.is_nan()) {
        return kernel(columns, monitor);
    }
    let n = columns.first().map_or(0, |column| column.len());
    let _room = Reservation::new(monitor, N * n * size_of::<f64>())?;
    let complete: Vec<usize> = (0..n).filter(|&row| !columns.iter().any(|column| column[row].is_nan())).collect();
    let columns = columns.map(|column| complete.iter().map(|&row| column[row]).collect::<Vec<f64>>());
    kernel(array::from_fn(|i| columns[i].as_slice()), monitor)
}
