//! `earth_movers_distance(a, b)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, ListArray};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Column, Function, GraphValue, Parameter, ParameterKind, execution_error, scalar_function, stopped};
use datafusion::common::Result;

use super::columns::rows;

const NAME: &str = "earth_movers_distance";

/// The registration.
pub(super) fn earth_movers_distance() -> Function {
    let list = |name, description| Parameter {
        kind: ParameterKind::Column(Column::Of(Vec::<f64>::data_type())),
        ..Parameter::column(name, description)
    };
    scalar_function(NAME, DataType::Float64, distances)
        .parameters([list("a", "A list of numbers."), list("b", "Another, of any length.")])
        .returns("DOUBLE")
        .description(
            "The earth mover's distance of two lists of numbers, as distributions of equal weights on the line: the least mean distance at \
             which one is moved onto the other (the 1-Wasserstein distance). Exact; in the unit of the numbers. NULL where a list is; \
             a list that is empty, or has a NULL, NaN or infinity in it, is an error. O(n log n). For histograms over bins see mmd, for \
             diagrams wasserstein_distance.",
        )
        .example("SELECT earth_movers_distance([0, 1, 3], [5, 6, 8]) AS distance")
        .source("Rubner, Tomasi and Guibas, The Earth Mover's Distance as a Metric for Image Retrieval (2000)")
}

/// The numbers of a row; `None` for NULL.
fn numbers(lists: &ListArray, name: &str, row: usize) -> Result<Option<Vec<f64>>> {
    if lists.is_null(row) {
        return Ok(None);
    }
    let list = lists.value(row);
    let list = list.as_primitive::<Float64Type>();
    let wrong = match (list.null_count(), list.values().iter().find(|value| !value.is_finite())) {
        (0, None) if list.is_empty() => "is empty".to_owned(),
        (0, None) => return Ok(Some(list.values().to_vec())),
        (0, Some(value)) => format!("has {value} in it"),
        _ => "has a NULL in it".to_owned(),
    };
    Err(execution_error(format!("{NAME}: the list {name} {wrong}; it takes finite numbers, one at least")))
}

fn distances(columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let (a, b) = (columns[0].as_list::<i32>(), columns[1].as_list::<i32>());
    let distances = rows(a.len(), |row| {
        if row.is_multiple_of(1024) {
            monitor.check().map_err(stopped)?;
        }
        let (Some(mut a), Some(mut b)) = (numbers(a, "a", row)?, numbers(b, "b", row)?) else { return Ok(None) };
        Ok(crate::earth_movers_distance(&mut a, &mut b))
    })?;
    Ok(Arc::new(Float64Array::from(distances)))
}
