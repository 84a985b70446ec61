//! `forman_ricci(src, dst) OVER (...)` and `FROM forman_ricci(edges)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Body, EdgeFunction, EdgeRows, Function, Options, Parameter, execution_error, stopped};
use datafusion::common::Result;

use crate::forman::FormanError;

/// The registration.
pub fn forman_ricci() -> Function {
    Function::new("forman_ricci", Body::Edge(Arc::new(Forman)))
        .parameters([
            Parameter::column("src", "One end of the edge: integers or text."),
            Parameter::column("dst", "The other end."),
        ])
        .returns("BIGINT")
        .description(
            "The Forman-Ricci curvature of an edge: 4 - d_i - d_j + 3 triangles, in the undirected simple graph of the \
             rows. NULL for a loop and where an end is NULL.",
        )
        .example(
            "SELECT src, dst, forman_ricci FROM forman_ricci(karate.edges) ORDER BY forman_ricci, src, dst LIMIT 3",
        )
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation, Eq. 1")
}

#[derive(Debug)]
struct Forman;

impl EdgeFunction for Forman {
    fn data_type(&self) -> DataType {
        DataType::Int64
    }

    fn compute(&self, edges: &EdgeRows<'_>, _: &Options, monitor: &dyn Monitor) -> Result<ArrayRef> {
        // A row without an edge stands in as a loop, which answers NULL as well.
        let pairs: Vec<(u32, u32)> = edges.rows.iter().map(|row| row.unwrap_or((0, 0))).collect();
        let values = crate::forman_ricci(edges.graph, &pairs, monitor).map_err(|error| match error {
            FormanError::Stopped(reason) => stopped(reason),
            error => execution_error(format!("forman_ricci: {error}")),
        })?;
        Ok(Arc::new(Int64Array::from(values)))
    }
}
