//! `forman_ricci(src, dst) OVER (...)` and `FROM forman_ricci(edges)`.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::DataType;
use bonnet_sql::{Body, EdgeFunction, EdgeKernel, Function, Options, Parameter, kernel_error};
use datafusion::common::Result;

/// The registration.
pub fn forman_ricci() -> Function {
    Function::new("forman_ricci", Body::Edge(Arc::new(Forman)))
        .parameters(Parameter::ends())
        .returns("BIGINT")
        .description(
            "The Forman-Ricci curvature of an edge: 4 - d_i - d_j + 3 triangles, in the undirected simple graph of the \
             rows. NULL for a loop and where an endpoint is NULL.",
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

    fn bind(&self, _: &Options) -> Result<EdgeKernel> {
        Ok(Box::new(|graph, host| {
            let values = crate::forman_ricci(graph.graph()?, graph.arcs(), host)
                .map_err(|error| kernel_error("forman_ricci", error))?;
            Ok(Arc::new(Int64Array::from(values)))
        }))
    }
}
