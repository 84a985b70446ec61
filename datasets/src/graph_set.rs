//! The tables of sets of graphs: `graphs(graph_id, ...)`, `nodes(graph_id, node, ...)` and
//! `edges(graph_id, src, dst, ...)`.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};

use crate::columns::{self, Values};
use crate::types::Features;

/// The tables of a set.
pub(crate) const TABLES: [&str; 3] = ["graphs", "nodes", "edges"];

/// `graphs(graph_id, label, ...)`.
pub(crate) fn graphs_schema(label: DataType, others: impl IntoIterator<Item = Field>) -> SchemaRef {
    let label = Field::new("label", label, true);
    with_graph_id(std::iter::once(label).chain(others).map(Arc::new))
}

/// `nodes(graph_id, node, label, features, ...)`.
pub(crate) fn nodes_schema(label: DataType, features: Features, others: impl IntoIterator<Item = Field>) -> SchemaRef {
    let own = columns::nodes_schema(DataType::Int64, label, features);
    with_graph_id(own.fields().iter().cloned().chain(others.into_iter().map(Arc::new)))
}

/// `edges(graph_id, src, dst, ...)`.
pub(crate) fn edges_schema(others: impl IntoIterator<Item = Field>) -> SchemaRef {
    let own = columns::edges_schema(DataType::Int64);
    with_graph_id(own.fields().iter().cloned().chain(others.into_iter().map(Arc::new)))
}

fn with_graph_id(fields: impl Iterator<Item = FieldRef>) -> SchemaRef {
    let id = Arc::new(Field::new("graph_id", DataType::Int64, false));
    Arc::new(Schema::new(std::iter::once(id).chain(fields).collect::<Vec<_>>()))
}

/// Graphs whose nodes are numbered from 0 in each graph; the graphs are numbered from 0 too.
#[derive(Debug, Default)]
pub(crate) struct GraphSet {
    /// The nodes of each graph.
    nodes: Vec<usize>,
    /// The rows of edges of each graph.
    edges: Vec<usize>,
    src: Vec<i64>,
    dst: Vec<i64>,
}

impl GraphSet {
    /// Adds a graph of so many nodes with these rows of edges.
    pub(crate) fn push(&mut self, nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) {
        let before = self.src.len();
        for (u, v) in edges {
            self.src.push(u as i64);
            self.dst.push(v as i64);
        }
        self.nodes.push(nodes);
        self.edges.push(self.src.len() - before);
    }

    /// The number of graphs.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of rows of a table.
    pub(crate) fn rows(&self, table: &str) -> usize {
        match table {
            "graphs" => self.len(),
            "nodes" => self.nodes.iter().sum(),
            _ => self.src.len(),
        }
    }

    /// A column that every set has: `graph_id`, `node`, `src`, `dst`.
    pub(crate) fn column(&mut self, table: &str, name: &str) -> Option<Values> {
        Some(match (table, name) {
            ("graphs", "graph_id") => Values::Numbers,
            ("nodes", "graph_id") => Values::Integers(repeat(&self.nodes)),
            ("edges", "graph_id") => Values::Integers(repeat(&self.edges)),
            (_, "node") => Values::Integers(self.nodes.iter().flat_map(|&n| 0..n as i64).collect()),
            (_, "src") => Values::Integers(std::mem::take(&mut self.src)),
            (_, "dst") => Values::Integers(std::mem::take(&mut self.dst)),
            _ => return None,
        })
    }
}

/// Each position as often as its count says.
fn repeat(counts: &[usize]) -> Vec<i64> {
    counts.iter().enumerate().flat_map(|(graph, &count)| std::iter::repeat_n(graph as i64, count)).collect()
}
