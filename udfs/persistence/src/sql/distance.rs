//! `bottleneck_distance(a, b)` and `wasserstein_distance(a, b)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, OptionValue, Parameter, execution_error, scalar_function, stopped};
use datafusion::common::Result;

use super::betti_curve::diagram_parameter;
use super::columns::{Diagrams, dimension, numbers, rows};

const BOTTLENECK: &str = "bottleneck_distance";
const WASSERSTEIN: &str = "wasserstein_distance";

fn dim() -> Parameter {
    Parameter { optional: true, ..Parameter::number_column("dim", "The dimension; NULL for the sum over all.") }
}

/// The registration.
pub(super) fn bottleneck_distance() -> Function {
    scalar_function(BOTTLENECK, DataType::Float64, bottleneck_distances).heavy()
        .parameters([diagram_parameter("a"), diagram_parameter("b"), dim()])
        .returns("DOUBLE")
        .description(
            "The least d for which the points of two diagrams can be matched within d, each with one of the other diagram \
             or with the diagonal, in the L-infinity metric. Points of infinite death are matched by their births; unequal \
             numbers of them give infinity. Exact. NULL where a diagram is.",
        )
        .example(
            "WITH d AS (SELECT persistence_diagram(src, dst, src) AS a, persistence_diagram(src, dst, dst) AS b FROM \
             karate.edges) SELECT bottleneck_distance(a, b) AS distance, bottleneck_distance(a, b, 0) AS components FROM d",
        )
        .source("Cohen-Steiner, Edelsbrunner and Harer, Stability of Persistence Diagrams (2007)")
}

/// The registration.
pub(super) fn wasserstein_distance() -> Function {
    scalar_function(WASSERSTEIN, DataType::Float64, wasserstein_distances).heavy()
        .parameters([
            diagram_parameter("a"),
            diagram_parameter("b"),
            Parameter {
                optional: true,
                default: OptionValue::Number(1.0),
                ..Parameter::number_column("p", "The exponent: finite, at least 1.")
            },
            dim(),
        ])
        .returns("DOUBLE")
        .description(
            "The least (sum of d^p)^(1/p) over all matchings of two diagrams, where each point goes to one of the other \
             diagram or to the diagonal, d away in the L-infinity metric. Points of infinite death are matched by their \
             births; unequal numbers of them give infinity. Exact. NULL where a diagram is.",
        )
        .example(
            "WITH d AS (SELECT persistence_diagram(src, dst, src) AS a, persistence_diagram(src, dst, dst) AS b FROM \
             karate.edges) SELECT wasserstein_distance(a, b) AS distance, wasserstein_distance(a, b, p => 2, dim => 0) AS \
             components FROM d",
        )
        .source(
            "Cohen-Steiner, Edelsbrunner, Harer and Mileyko, Lipschitz Functions Have L_p-Stable Persistence (2010), Sec. 2",
        )
}

/// The dimension of a row; `None` for all of them.
fn dim_of(function: &str, dims: &Float64Array, row: usize) -> Result<Option<u32>> {
    (!dims.is_null(row)).then(|| dimension(function, dims.value(row))).transpose()
}

/// The bottleneck distances of diagrams.
fn bottleneck_distances(columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let (a, b) = (Diagrams::new(&columns[0], BOTTLENECK, "a")?, Diagrams::new(&columns[1], BOTTLENECK, "b")?);
    let dims = numbers(&columns[2])?;
    let distances = rows(columns[0].len(), |row| {
        let dim = dim_of(BOTTLENECK, &dims, row)?;
        let (Some(a), Some(b)) = (a.row(row)?, b.row(row)?) else { return Ok(None) };
        crate::bottleneck_distance(&a, &b, dim, monitor).map(Some).map_err(stopped)
    })?;
    Ok(Arc::new(Float64Array::from(distances)))
}

/// The Wasserstein distances of diagrams.
fn wasserstein_distances(columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let (a, b) = (Diagrams::new(&columns[0], WASSERSTEIN, "a")?, Diagrams::new(&columns[1], WASSERSTEIN, "b")?);
    let (ps, dims) = (numbers(&columns[2])?, numbers(&columns[3])?);
    let distances = rows(columns[0].len(), |row| {
        let dim = dim_of(WASSERSTEIN, &dims, row)?;
        if ps.is_null(row) {
            return Ok(None);
        }
        let p = ps.value(row);
        if !(p >= 1.0 && p.is_finite()) {
            return Err(execution_error(format!(
                "{WASSERSTEIN}: p is {p}, expected a finite number of at least 1; for p = infinity there is {BOTTLENECK}"
            )));
        }
        let (Some(a), Some(b)) = (a.row(row)?, b.row(row)?) else { return Ok(None) };
        crate::wasserstein_distance(&a, &b, p, dim, monitor).map(Some).map_err(stopped)
    })?;
    Ok(Arc::new(Float64Array::from(distances)))
}
