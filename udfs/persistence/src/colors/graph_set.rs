//! Several graphs as one: the nodes of one graph after those of the other.

use std::ops::Range;

use bonnet_graph::Graph;

/// Graphs that are compared, as their disjoint union: the nodes of the first graph, then those of the second, and so on. Each
/// node has a label; equal numbers are equal labels, in whichever graphs.
#[derive(Debug, Clone)]
pub struct GraphSet {
    union: Graph,
    /// Where the nodes of each graph begin, and where the last one's end.
    starts: Vec<usize>,
    labels: Vec<u32>,
}

impl GraphSet {
    /// The graphs of these numbers of nodes, under edges between numbers of the union. Without `labels` all nodes are alike.
    ///
    /// # Panics
    /// If an end of an edge is not below the number of nodes, or there is not a label for each node.
    pub fn new(sizes: &[usize], edges: &[(u32, u32)], labels: Option<Vec<u32>>) -> Self {
        let mut starts = vec![0];
        for size in sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let n = starts[starts.len() - 1];
        let labels = labels.unwrap_or_else(|| vec![0; n]);
        assert_eq!(labels.len(), n, "a label for each node");
        Self { union: Graph::from_edges(n, edges), starts, labels }
    }

    /// The bytes of a set of this size while it is made.
    pub fn bytes(nodes: usize, edges: usize) -> usize {
        Graph::bytes(nodes, edges) + 12 * nodes
    }

    /// The number of graphs.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes of a graph by their numbers in the union.
    pub fn nodes(&self, graph: usize) -> Range<usize> {
        self.starts[graph]..self.starts[graph + 1]
    }

    /// The disjoint union of the graphs.
    pub fn union(&self) -> &Graph {
        &self.union
    }

    /// The label of each node of the union.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// One of the graphs, its nodes numbered from 0.
    pub fn graph(&self, graph: usize) -> Graph {
        let nodes = self.nodes(graph);
        let start = nodes.start as u32;
        let later =
            |v: u32| self.union.neighbors(v).iter().filter(move |&&u| u > v).map(move |&u| (v - start, u - start));
        let edges: Vec<(u32, u32)> = (nodes.start as u32..nodes.end as u32).flat_map(later).collect();
        Graph::from_edges(nodes.len(), &edges)
    }
}
