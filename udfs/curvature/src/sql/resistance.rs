//! `effective_resistance(src, dst ...) OVER (...)`, `resistance_curvature(src, dst ...) OVER (...)`, and both in FROM.

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_graph::{Graph, Monitor};
use bonnet_sql::{Body, EdgeFunction, EdgeKernel, Function, Options, Parameter, kernel_error};
use datafusion::common::Result;

use super::edge_values::{edge_values, resistances};
use crate::ResistanceError;

pub(super) const SOURCE: &str = "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Eq. 3 and 9; \
                      Devriendt and Lambiotte, Discrete curvature on graphs from the effective resistance (2022)";

type Kernel = fn(&Graph, Option<&[f64]>, &dyn Monitor) -> Result<Vec<f64>, ResistanceError>;

fn function(name: &'static str, kernel: Kernel) -> Function {
    let weight = Parameter::number_column("weight", "The edge's own resistance (a cost), positive; 1 where left out.")
        .optional();
    Function::new(name, Body::Edge(Arc::new(OfEdges { name, kernel })))
        .parameters(Parameter::ends().into_iter().chain([weight]))
        .returns("DOUBLE")
        .source(SOURCE)
}

/// The registration of `effective_resistance`.
pub fn effective_resistance() -> Function {
    function("effective_resistance", crate::effective_resistance)
        .description(
            "The effective resistance between the endpoints of an edge, when the undirected simple graph of the rows is a \
             network of resistors; in each component by itself. At most the edge's own resistance, which it is on a \
             bridge; over those, the values sum to nodes - components. Exact, by elimination without cancellation. \
             NULL for a loop and where an endpoint is NULL.",
        )
        .example(
            "SELECT src, dst, effective_resistance FROM effective_resistance(karate.edges) \
             ORDER BY effective_resistance, src, dst LIMIT 3",
        )
}

/// The registration of `resistance_curvature`.
pub fn resistance_curvature() -> Function {
    function("resistance_curvature", crate::resistance_curvature)
        .description(
            "The resistance curvature of an edge: 2 (p_i + p_j) / R_ij, with the effective resistance R_ij and the node \
             resistance curvatures p of its endpoints; in each component by itself. On a tree it is forman_ricci. NULL for a \
             loop and where an endpoint is NULL.",
        )
        .example(
            "SELECT src, dst, resistance_curvature(src, dst) OVER () AS curvature FROM karate.edges \
             ORDER BY curvature, src, dst LIMIT 3",
        )
}

#[derive(Debug)]
struct OfEdges {
    name: &'static str,
    kernel: Kernel,
}

impl EdgeFunction for OfEdges {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<EdgeKernel> {
        let Self { name, kernel } = *self;
        Ok(Box::new(move |input, host| {
            let (graph, own) = (input.graph()?, resistances(name, input)?);
            let values = kernel(graph, own.as_deref(), host).map_err(|error| kernel_error(name, error))?;
            Ok(edge_values(graph, input.arcs(), &values))
        }))
    }
}
