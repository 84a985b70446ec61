//! `graph_coloring(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

/// The registration.
pub fn graph_coloring() -> Function {
    node_function("graph_coloring", Reads::SIMPLE, [], |_| {
        Ok(Answer::count("graph_coloring", |call| Ok(crate::graph_coloring(call.simple()?, call.host)?)))
    })
    .returns("node, graph_coloring; graph_id in front where edges have it")
    .description(
        "A colour for each node, numbered from 0, such that no edge joins two of one colour: few colours, not always \
         the fewest. Direction, loops and repeats do not count. O((n + m) log n).",
    )
    .example("SELECT graph_coloring, count(*) AS nodes FROM graph_coloring(karate.edges) GROUP BY 1 ORDER BY 1")
    .source("Brelaz, New methods to color the vertices of a graph (1979); petgraph's dsatur_coloring")
}
