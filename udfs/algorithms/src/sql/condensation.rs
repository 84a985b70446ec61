//! `condensation(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::{Reads, counts};
use super::relation::{Answer, count, graph_function};

/// The registration.
pub fn condensation() -> Function {
    graph_function("condensation", &[], Reads::ARCS, [], |_| {
        let columns = ["src", "dst", "condensation"];
        Ok(Answer::new(columns.map(count).to_vec(), |call| {
            let (graph, _reservation) = call.digraph()?;
            let components = crate::strong_components(&graph, call.host)?;
            let arcs = crate::condensation(&graph, &components);
            let column = |of: fn(&(u32, u32, u64)) -> u64| counts(&arcs.iter().map(of).collect::<Vec<u64>>());
            Ok(vec![column(|arc| arc.0.into())?, column(|arc| arc.1.into())?, column(|arc| arc.2)?])
        }))
    })
    .returns("src, dst, condensation; graph_id in front where edges have it")
    .description(
        "The arcs between strong components, src and dst by the numbers of strong_components, and how many arcs of the \
         graph each stands for. There is no cycle among them. O(n + m log m).",
    )
    .example(
        "SELECT * FROM condensation((SELECT * FROM (VALUES (1, 2), (2, 1), (1, 3), (2, 3), (3, 4)) e(src, dst))) ORDER \
         BY src, dst",
    )
    .source("Harary, Norman and Cartwright, Structural models (1965); strong components by petgraph's kosaraju_scc")
}
