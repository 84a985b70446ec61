//! `dominators(edges, source [, nodes => relation])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use bonnet_sql::{Function, Options};
use datafusion::common::Result;

use super::network::{Reads, nodes};
use super::node_option::NodeOption;
use super::relation::{Answer, graph_function};

/// The registration.
pub fn dominators() -> Function {
    let source = NodeOption::parameter("source", "The node where all paths begin.");
    graph_function("dominators", &["node", "dominators"], Reads::ARCS, [source], bind)
        .returns("node, dominators; graph_id in front where edges have it")
        .description(
            "For each node that paths along arcs, src to dst, lead to from the source: its immediate dominator, the \
             last node before it that is on every such path; NULL for the source itself. O(m) a pass, few of them in \
             practice.",
        )
        .example(
            "SELECT * FROM dominators((SELECT * FROM (VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)) e(src, dst)), \
             source => 1) ORDER BY node",
        )
        .source("Cooper, Harvey and Kennedy, A simple, fast dominance algorithm (2001)")
}

fn bind(options: &Options) -> Result<Answer> {
    let source = NodeOption::bind(options, "source")?;
    Ok(Answer::new(Vec::new(), move |call| {
        let source = source.number(call.graph)?;
        let (graph, _reservation) = call.digraph()?;
        let found = crate::dominators(&graph, source, call.host)?;
        let reached = |&v: &u32| v == source || found[v as usize].is_some();
        let rows: Vec<u32> = (0..graph.n_nodes() as u32).filter(|v| reached(v)).collect();
        let immediate: ArrayRef = Arc::new(rows.iter().map(|&v| found[v as usize]).collect::<UInt32Array>());
        Ok(vec![nodes(rows), immediate])
    }))
}
