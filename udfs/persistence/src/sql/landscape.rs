//! `persistence_landscape(diagram, dim)`, `landscape_mean(landscape)`, `landscape_norm(landscape)` and
//! `landscape_distance(a, b)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Function, OptionValue, Options, Parameter, RowsKernel, execution_error, rows_function, scalar_function, stopped,
};
use datafusion::common::Result;

use super::betti_curve::diagram_parameter;
use super::columns::{
    Diagrams, DimLandscape, Landscapes, common_dim, dimension, exponent, landscape_array, landscape_type, numbers, rows,
};

const LANDSCAPE: &str = "persistence_landscape";
const MEAN: &str = "landscape_mean";
const NORM: &str = "landscape_norm";
const DISTANCE: &str = "landscape_distance";

const SOURCE: &str = "Bubenik, Statistical Topological Data Analysis using Persistence Landscapes (JMLR 2015)";

fn landscape_parameter(name: &'static str) -> Parameter {
    Parameter::column(name, "A landscape: a list of its corners {dim, k, x, y}, as persistence_landscape answers.")
}

fn p() -> Parameter {
    Parameter::number_or_text("p", "The exponent, at least 1, or 'inf' for the supremum.").or(OptionValue::Number(2.0))
}

/// The registration.
pub(super) fn persistence_landscape() -> Function {
    scalar_function(LANDSCAPE, landscape_type(), landscapes).heavy()
        .parameters([
            diagram_parameter("diagram"),
            Parameter::number_column("dim", "The dimension: 0 for components, 1 for cycles."),
            Parameter {
                optional: true,
                ..Parameter::number_column(
                    "cap",
                    "Where infinite deaths are cut; NULL for the largest finite value of the diagram.",
                )
            },
            Parameter::integer("functions", "How many functions are made, lambda_1 first; NULL for all.").optional(),
        ])
        .returns("LIST of {dim, k, x, y}")
        .description(
            "The persistence landscape of a diagram in one dimension: for k = 1, 2, ... the corners (x, y) of the piecewise \
             linear function lambda_k, from left to right. lambda_k(x) is the k-th largest height at x of the tents over all \
             points, where the tent of (b, d) has its peak (d - b) / 2 at its middle. Exact. A cut that leaves nothing of a \
             point drops it; NULL where the diagram is.",
        )
        .example(
            "SELECT k, x, y FROM flatten((SELECT persistence_landscape(persistence_diagram(src, dst, src), 0) AS landscape \
             FROM karate.edges), landscape) ORDER BY k, x LIMIT 5",
        )
        .source(SOURCE)
}

/// The registration.
pub(super) fn landscape_mean() -> Function {
    rows_function(MEAN, landscape_type(), bind_mean)
        .parameters([landscape_parameter("landscape")])
        .returns("LIST of {dim, k, x, y}")
        .description(
            "The mean of landscapes of one dimension, function by function, exactly. Empty landscapes count as 0. NULL \
             landscapes do not count; no rows give NULL.",
        )
        .example(
            "SELECT landscape_norm(landscape_mean(l)) AS norm FROM (SELECT persistence_landscape(persistence_diagram(src, \
             dst, src + dst), 0) AS l FROM karate.edges GROUP BY src % 2)",
        )
        .source(SOURCE)
}

/// The registration.
pub(super) fn landscape_norm() -> Function {
    scalar_function(NORM, DataType::Float64, norms)
        .parameters([landscape_parameter("landscape"), p()])
        .returns("DOUBLE")
        .description(
            "The L^p norm of a landscape: (sum over k of the integral of |lambda_k|^p)^(1/p), or its largest value. NULL \
             where the landscape is.",
        )
        .example(
            "SELECT landscape_norm(persistence_landscape(persistence_diagram(src, dst, src), 0)) AS norm FROM karate.edges",
        )
        .source(SOURCE)
}

/// The registration.
pub(super) fn landscape_distance() -> Function {
    scalar_function(DISTANCE, DataType::Float64, distances)
        .parameters([landscape_parameter("a"), landscape_parameter("b"), p()])
        .returns("DOUBLE")
        .description(
            "The L^p norm of the difference of two landscapes of one dimension; over several dimensions such distances are \
             added. NULL where a landscape is.",
        )
        .example(
            "WITH d AS (SELECT persistence_diagram(src, dst, src) AS a, persistence_diagram(src, dst, dst) AS b FROM \
             karate.edges) SELECT landscape_distance(persistence_landscape(a, 0), persistence_landscape(b, 0), p => 'inf') AS \
             distance FROM d",
        )
        .source(SOURCE)
}

/// The landscapes of diagrams.
fn landscapes(columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let diagrams = Diagrams::new(&columns[0], LANDSCAPE, "diagram")?;
    let (dims, caps) = (numbers(&columns[1])?, numbers(&columns[2])?);
    let functions = cast(&columns[3], &DataType::Int64)?;
    let functions = functions.as_primitive::<Int64Type>();
    let landscapes = rows(columns[0].len(), |row| {
        if dims.is_null(row) {
            return Ok(None);
        }
        let dim = dimension(LANDSCAPE, dims.value(row))?;
        let cap = (!caps.is_null(row)).then(|| caps.value(row));
        if let Some(cap) = cap.filter(|cap| !cap.is_finite()) {
            return Err(execution_error(format!("{LANDSCAPE}: cap is {cap}, expected a finite number")));
        }
        let most = (!functions.is_null(row)).then(|| functions.value(row));
        let most = most.map(usize::try_from).transpose().map_err(|_| {
            execution_error(format!("{LANDSCAPE}: functions is {}, expected 0, 1, ...", functions.value(row)))
        })?;
        let Some(points) = diagrams.row(row)? else { return Ok(None) };
        let landscape = crate::persistence_landscape(&points, dim, cap, most, monitor).map_err(stopped)?;
        Ok(Some(DimLandscape { dim: Some(dim), landscape }))
    })?;
    Ok(Arc::new(landscape_array(&landscapes, monitor)?))
}

/// The norms of landscapes.
fn norms(columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let landscapes = Landscapes::new(&columns[0], NORM, "landscape")?;
    let norms = rows(columns[0].len(), |row| {
        monitor.check().map_err(stopped)?;
        let Some(p) = exponent(NORM, &columns[1], row)? else { return Ok(None) };
        Ok(landscapes.row(row)?.map(|it| crate::landscape_norm(&it.landscape, p)))
    })?;
    Ok(Arc::new(Float64Array::from(norms)))
}

/// The distances of landscapes.
fn distances(columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef> {
    let (a, b) = (Landscapes::new(&columns[0], DISTANCE, "a")?, Landscapes::new(&columns[1], DISTANCE, "b")?);
    let distances = rows(columns[0].len(), |row| {
        monitor.check().map_err(stopped)?;
        let Some(p) = exponent(DISTANCE, &columns[2], row)? else { return Ok(None) };
        let (Some(a), Some(b)) = (a.row(row)?, b.row(row)?) else { return Ok(None) };
        common_dim(DISTANCE, a.dim, b.dim)?;
        Ok(Some(crate::landscape_distance(&a.landscape, &b.landscape, p)))
    })?;
    Ok(Arc::new(Float64Array::from(distances)))
}

fn bind_mean(_: &Options) -> Result<RowsKernel> {
    Ok(Box::new(|groups, monitor| {
        let landscapes = Landscapes::new(&groups.columns()[0], MEAN, "landscape")?;
        let means = groups.map(|group| {
            let _reservation = Reservation::new(monitor, landscapes.bytes(group.clone())).map_err(stopped)?;
            let of_group = rows(group.len(), |i| landscapes.row(group.start + i))?;
            let (mut dim, mut read) = (None, Vec::with_capacity(of_group.len()));
            for it in of_group.into_iter().flatten() {
                dim = common_dim(MEAN, dim, it.dim)?;
                read.push(it.landscape);
            }
            let mean = crate::landscape_mean(&read, monitor).map_err(stopped)?;
            Ok(mean.map(|landscape| DimLandscape { dim, landscape }))
        })?;
        Ok(Arc::new(landscape_array(&means, monitor)?))
    }))
}
