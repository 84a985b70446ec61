//! `triangle_count(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "triangle_count";

/// The registration.
pub fn triangle_count() -> Function {
    node_function(NAME, Reads::SIMPLE, [], |_| {
        Ok(Answer::count(NAME, |call| Ok(crate::triangle_count(call.simple()?, call.host)?)))
    })
    .returns("node, triangle_count; graph_id in front where edges have it")
    .description(
        "The number of triangles that each node is in; a third of their sum is the number of triangles. O(m sqrt(m)).",
    )
    .example("SELECT sum(triangle_count) / 3 AS triangles FROM triangle_count(karate.edges)")
    .source("Latapy, Main-memory triangle computations for very large (sparse (power-law)) graphs (2008)")
}
