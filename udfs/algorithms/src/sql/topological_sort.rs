//! `topological_sort(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

/// The registration.
pub fn topological_sort() -> Function {
    node_function("topological_sort", Reads::ARCS, [], |_| {
        Ok(Answer::count("topological_sort", |call| {
            let (graph, _reservation) = call.digraph()?;
            Ok(crate::topological_sort(&graph, call.host)?)
        }))
    })
    .returns("node, topological_sort; graph_id in front where edges have it")
    .description(
        "The position of each node, from 0, in the order in which arcs, src to dst, all lead forwards: of such orders the \
         one whose first node is smallest, then its second, and so on. An error where arcs form a cycle, with the \
         cycle; loops do not count. O((n + m) log n).",
    )
    .example(
        "SELECT * FROM topological_sort((SELECT * FROM (VALUES ('shirt', 'tie'), ('tie', 'jacket'), ('trousers', \
         'shoes')) e(src, dst))) ORDER BY topological_sort",
    )
    .source("Kahn, Topological sorting of large networks (1962)")
}
