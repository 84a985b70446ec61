//! `lin_lu_yau(src, dst ...) OVER (...)` and `FROM lin_lu_yau(edges ...)`.

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_sql::{Body, EdgeFunction, EdgeKernel, Function, Options, Parameter, kernel_error};
use datafusion::common::Result;

use super::edge_values::{LENGTH, edge_values, edge_weights};
use super::ollivier_ricci::{LENGTHS, options, parameters};
use crate::MeasuredGraph;

const NAME: &str = "lin_lu_yau";

/// The registration.
pub fn lin_lu_yau() -> Function {
    // The share that stays has gone to its limit.
    let own = parameters().into_iter().filter(|parameter| parameter.name != "alpha");
    Function::new(NAME, Body::Edge(Arc::new(LinLuYau)))
        .parameters(
            Parameter::ends().into_iter().chain(own).chain([Parameter::number_column("weight", LENGTHS).optional()]),
        )
        .returns("DOUBLE")
        .description(
            "The Lin-Lu-Yau curvature of an edge: the limit of ollivier_ricci / (1 - alpha) for alpha to 1. Exact: it is reached at \
             alpha = 1/2, for all measures and lengths. n / (n - 1) on a complete graph, 2/p + 2/q - 2 on a tree. NULL for a loop and \
             where an endpoint is NULL.",
        )
        .example("SELECT src, dst, lin_lu_yau FROM lin_lu_yau(karate.edges) ORDER BY lin_lu_yau, src, dst LIMIT 3")
        .source(
            "Lin, Lu and Yau, Ricci curvature of graphs (2011); Bourne et al., Ollivier-Ricci idleness functions of graphs (2018)",
        )
}

#[derive(Debug)]
struct LinLuYau;

impl EdgeFunction for LinLuYau {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, given: &Options) -> Result<EdgeKernel> {
        let options = options(NAME, given)?;
        Ok(Box::new(move |input, host| {
            let (graph, lengths) = (input.graph()?, edge_weights(NAME, LENGTH, input)?);
            let space = MeasuredGraph { graph, lengths: lengths.as_deref(), measures: None };
            let values = crate::lin_lu_yau(space, &options, host).map_err(|error| kernel_error(NAME, error))?;
            Ok(edge_values(graph, input.arcs(), &values))
        }))
    }
}
