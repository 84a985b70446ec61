//! `betti_curve(diagram, dim, at)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

use super::columns::{Diagrams, dimension, numbers};

/// The argument that is a diagram.
pub(super) fn diagram_parameter(name: &'static str) -> Parameter {
    Parameter::column(name, "A diagram: a list of {dim, birth, death}, as persistence_diagram answers.")
}

/// The registration.
pub(super) fn betti_curve() -> Function {
    scalar_function("betti_curve", DataType::Int64, betti_numbers)
        .parameters([
            diagram_parameter("diagram"),
            Parameter::number_column("dim", "The dimension: 0 for components, 1 for cycles."),
            Parameter::number_column("at", "The value of the filtration."),
        ])
        .returns("BIGINT")
        .description(
            "The number of classes that are alive at a value: born there or before, and not dead yet. NULL where an \
             argument is.",
        )
        .example(
            "SELECT at, betti_curve(diagram, 0, at) AS components FROM (SELECT persistence_diagram(src, dst, src) AS \
             diagram FROM karate.edges), (VALUES (0), (5), (10)) v(at)",
        )
        .source("Edelsbrunner and Harer, Computational Topology (2010), Sec. VII.1")
}

/// The numbers of classes of diagrams that are alive.
fn betti_numbers(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let diagrams = Diagrams::new(&columns[0], "betti_curve", "diagram")?;
    let (dims, at) = (numbers(&columns[1])?, numbers(&columns[2])?);
    let count = |row: usize| -> Result<Option<i64>> {
        if dims.is_null(row) || at.is_null(row) {
            return Ok(None);
        }
        let dim = dimension("betti_curve", dims.value(row))?;
        Ok(diagrams.row(row)?.map(|points| crate::betti_curve(&points, dim, at.value(row)) as i64))
    };
    Ok(Arc::new((0..columns[0].len()).map(count).collect::<Result<Int64Array>>()?))
}
