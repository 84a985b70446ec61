//! `biconnected_components(src, dst) OVER (...)` and `FROM biconnected_components(edges)`.

use arrow::datatypes::DataType;
use bonnet_sql::Function;

use super::edge::edge_function;
use super::network::Reads;

/// The registration.
pub fn biconnected_components() -> Function {
    edge_function("biconnected_components", DataType::Int64, Reads::SIMPLE, [], |_| {
        Ok(Box::new(|_, call| {
            let components = crate::biconnected_components(call.simple()?, call.host)?;
            Ok(components.into_iter().map(f64::from).collect())
        }))
    })
    .description(
        "The biconnected component of an edge: edges are in one component that lie on a common cycle. Numbered from 0 \
         by falling number of edges, ties by the first edge in the order of the keys. Direction, loops and repeats do \
         not count; NULL for a loop and where an endpoint is NULL. O(n + m).",
    )
    .example(
        "SELECT biconnected_components, count(*) AS edges FROM biconnected_components(karate.edges) GROUP BY 1 ORDER \
         BY 1",
    )
    .source("Hopcroft and Tarjan, Algorithm 447 (1973)")
}
