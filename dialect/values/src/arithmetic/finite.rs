//! `isinf(x)` and `isfinite(x)`.
//!
//! Upstream: none known
//! Shows: `SELECT isinf('inf'::double), isfinite(1.0::double)` gives `true | true`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

/// The registrations.
pub(crate) fn functions() -> [Function; 2] {
    let test = |name, holds: fn(f64) -> bool| {
        scalar_function(name, DataType::Boolean, move |columns: &[ArrayRef], _: &dyn Monitor| {
            tested(&columns[0], holds)
        })
        .parameters([Parameter::number_column("x", "A number.")])
        .returns("BOOLEAN")
        .source("DuckDB, numeric functions")
    };
    [
        test("isinf", f64::is_infinite)
            .description("Whether a number is infinite, of either sign. NULL for NULL.")
            .example("SELECT isinf('inf'::double)"),
        test("isfinite", f64::is_finite)
            .description("Whether a number is neither infinite nor NaN. NULL for NULL.")
            .example("SELECT isfinite('nan'::double)"),
    ]
}

fn tested(numbers: &ArrayRef, holds: fn(f64) -> bool) -> Result<ArrayRef> {
    let numbers = cast(numbers, &DataType::Float64)?;
    Ok(Arc::new(BooleanArray::from_unary(numbers.as_primitive::<Float64Type>(), holds)))
}
