//! `strong_components(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

/// The registration.
pub fn strong_components() -> Function {
    node_function("strong_components", Reads::ARCS, [], |_| {
        Ok(Answer::count("strong_components", |call| {
            let (graph, _reservation) = call.digraph()?;
            Ok(crate::strong_components(&graph, call.host)?.of_node)
        }))
    })
    .returns("node, strong_components; graph_id in front where edges have it")
    .description(
        "The strong component of each node: arcs, src to dst, lead from each node of it to each other. Numbered from 0 \
         by falling size, ties by the smallest key. O(n + m).",
    )
    .example(
        "SELECT * FROM strong_components((SELECT * FROM (VALUES ('a', 'b'), ('b', 'c'), ('c', 'a'), ('c', 'd')) e(src, \
         dst))) ORDER BY node",
    )
    .source("Sharir, A strong-connectivity algorithm (1981); petgraph's kosaraju_scc")
}
