//! `bridges(src, dst) OVER (...)` and `FROM bridges(edges)`.

use arrow::datatypes::DataType;
use bonnet_sql::Function;

use super::edge::edge_function;
use super::network::Reads;

/// The registration.
pub fn bridges() -> Function {
    edge_function("bridges", DataType::Boolean, Reads::SIMPLE, [], |_| {
        Ok(Box::new(|_, call| {
            let bridges = crate::bridges(call.simple()?, call.host)?;
            Ok(bridges.into_iter().map(f64::from).collect())
        }))
    })
    .description(
        "Whether an edge is a bridge: without it, its component falls apart. Direction, loops and repeats do not \
         count; NULL for a loop and where an endpoint is NULL. O(n + m).",
    )
    .example("SELECT src, dst FROM bridges(karate.edges) WHERE bridges")
    .source("Tarjan, A note on finding the bridges of a graph (1974); petgraph's bridges")
}
