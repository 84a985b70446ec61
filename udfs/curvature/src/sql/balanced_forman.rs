//! `balanced_forman(src, dst) OVER (...)` and `FROM balanced_forman(edges)`.

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_sql::{Body, EdgeFunction, EdgeKernel, Function, Options, Parameter, stopped};
use datafusion::common::Result;

use super::edge_values::edge_values;

/// The registration.
pub fn balanced_forman() -> Function {
    Function::new("balanced_forman", Body::Edge(Arc::new(Balanced)))
        .parameters(Parameter::ends())
        .returns("DOUBLE")
        .description(
            "The balanced Forman curvature of an edge, by its degrees, triangles and 4-cycles without diagonals, in the undirected \
             simple graph of the rows: above -2, no more than lin_lu_yau where both ends have another neighbour, and 0 where one has \
             none. NULL for a loop and where an endpoint is NULL. O(sum over edges of the degrees of their ends' neighbours).",
        )
        .example("SELECT src, dst, balanced_forman FROM balanced_forman(karate.edges) ORDER BY balanced_forman, src, dst LIMIT 3")
        .source(
            "Topping et al., Understanding over-squashing and bottlenecks on graphs via curvature (ICLR 2022), Definition 1",
        )
}

#[derive(Debug)]
struct Balanced;

impl EdgeFunction for Balanced {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<EdgeKernel> {
        Ok(Box::new(|input, host| {
            let graph = input.graph()?;
            let values = crate::balanced_forman(graph, host).map_err(stopped)?;
            Ok(edge_values(graph, input.arcs(), &values))
        }))
    }
}
