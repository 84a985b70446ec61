//! `articulation_points(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

/// The registration.
pub fn articulation_points() -> Function {
    node_function("articulation_points", Reads::SIMPLE, [], |_| {
        Ok(Answer::boolean("articulation_points", |call| Ok(crate::articulation_points(call.simple()?, call.host)?)))
    })
    .returns("node, articulation_points; graph_id in front where edges have it")
    .description(
        "Whether each node is an articulation point: without it, its component falls apart. Direction, loops and \
         repeats do not count. O(n + m).",
    )
    .example("SELECT node FROM articulation_points(karate.edges) WHERE articulation_points")
    .source("Hopcroft and Tarjan, Algorithm 447 (1973); petgraph's articulation_points")
}
