//! `even(x)`: the next even number away from zero.
//!
//! Upstream: none known
//! Shows: `SELECT even(2.1)` gives `4.0`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

/// The registration of `even`.
pub(crate) fn even() -> Function {
    scalar_function("even", DataType::Float64, evens)
        .parameters([Parameter::number_column("x", "A number.")])
        .returns("DOUBLE")
        .description(
            "The next even number away from zero, or the number itself where it is even. NULL for NULL; NaN and infinities \
             stay as they are.",
        )
        .example("SELECT even(2.5)")
        .source("DuckDB, numeric functions")
}

fn evens(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let numbers = cast(&columns[0], &DataType::Float64)?;
    // Zero has no sign in the answer.
    let next = |number: f64| (number.abs() / 2.0).ceil() * 2.0 * if number < 0.0 { -1.0 } else { 1.0 };
    Ok(Arc::new(numbers.as_primitive::<Float64Type>().unary::<_, Float64Type>(next)))
}
