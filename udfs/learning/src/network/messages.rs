//! The edges along which a model sends its messages: those of the whole graph, or of a sample of it.

use std::sync::Arc;

use bonnet_graph::{Digraph, Graph};

use crate::ground::{BuildError, OptionError};
use crate::network::sampling::{ListedEdges, Sample};

/// The edges into each node of a problem.
#[derive(Debug, Clone)]
pub enum Messages {
    /// The edges of the graph.
    Whole(Arc<Graph>),
    /// Arcs: a node receives messages along those that lead to it. Degrees count them.
    Arcs {
        /// The undirected graph of the arcs.
        graph: Arc<Graph>,
        /// The arcs the other way round: the rows are those of their heads.
        incoming: Arc<Digraph>,
    },
    /// Edges with a weight each.
    Weighted(Arc<WeightedEdges>),
    /// The edges that were sampled. A row is never its node's own neighbours in a smaller graph: degrees are the graph's.
    Sampled(Arc<Sample>),
    /// Sampled edges of a relation, which lead to few of the sample's rows.
    Listed(Arc<ListedEdges>),
}

/// Edges of the whole graph, or arcs, with a weight each.
#[derive(Debug, Clone)]
pub struct WeightedEdges {
    edges: Messages,
    /// In the order of [`Messages::targets`].
    weights: Vec<f64>,
    /// Of each node the sum of its row's weights.
    strengths: Vec<f64>,
}

impl Messages {
    /// The edges with a weight each, in the order of [`Messages::targets`]; an edge has the same weight in the rows of both of
    /// its endpoints. O(n + m), 8 bytes an entry and node.
    pub fn weighted(self, weights: Vec<f64>) -> Self {
        debug_assert_eq!(weights.len(), self.targets().len());
        let strengths = self.offsets().windows(2).map(|row| weights[row[0]..row[1]].iter().sum()).collect();
        Self::Weighted(Arc::new(WeightedEdges { edges: self, weights, strengths }))
    }

    /// The weights of the row of `v`; none where each is 1.
    pub fn weights(&self, v: u32) -> Option<&[f64]> {
        match self {
            Self::Weighted(edges) => Some(&edges.weights[self.offsets()[v as usize]..self.offsets()[v as usize + 1]]),
            _ => None,
        }
    }

    /// The weights of [`Messages::targets`], 1 where edges have none. O(m).
    pub fn values(&self) -> Vec<f32> {
        match self {
            Self::Weighted(edges) => edges.weights.iter().map(|&weight| weight as f32).collect(),
            _ => vec![1.0; self.targets().len()],
        }
    }

    /// The weight of the entry of `j` in the row of `i`, which has one: 1 where edges have none. O(log degree).
    pub fn weight(&self, i: u32, j: u32) -> f64 {
        match (self.weights(i), self.neighbors(i).binary_search(&j)) {
            (Some(weights), Ok(at)) => weights[at],
            _ => 1.0,
        }
    }

    /// The sum of the weights of the edges of `v` in the whole graph: its degree where each is 1.
    pub fn strength(&self, v: u32) -> f64 {
        match self {
            Self::Weighted(edges) => edges.strengths[v as usize],
            _ => self.degree(v) as f64,
        }
    }

    /// Refuses a weight below 0, for what is divided by sums of weights.
    ///
    /// # Errors
    /// [`BuildError::Weight`] names the first such edge.
    pub fn expect_positive(&self) -> Result<(), BuildError> {
        let Self::Weighted(edges) = self else { return Ok(()) };
        match edges.weights.iter().position(|&weight| weight < 0.0) {
            None => Ok(()),
            Some(at) => {
                let to = self.offsets().partition_point(|&start| start <= at) - 1;
                Err(BuildError::Weight { from: self.targets()[at], to: to as u32, weight: edges.weights[at] })
            }
        }
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::Listed(edges) => edges.n,
            _ => self.offsets().len() - 1,
        }
    }

    /// The nodes whose messages `v` receives, in ascending order.
    pub fn neighbors(&self, v: u32) -> &[u32] {
        match self {
            Self::Listed(edges) => edges.row(v),
            _ => &self.targets()[self.offsets()[v as usize]..self.offsets()[v as usize + 1]],
        }
    }

    /// The degree of `v` in the whole graph; of arcs, the number of those that lead to it.
    pub fn degree(&self, v: u32) -> usize {
        match self {
            Self::Whole(graph) => graph.degree(v),
            Self::Arcs { incoming, .. } => incoming.successors(v).len(),
            Self::Weighted(edges) => edges.edges.degree(v),
            Self::Sampled(sample) => sample.degrees[v as usize] as usize,
            Self::Listed(edges) => edges.degree(v) as usize,
        }
    }

    /// The factor by which a sum over the neighbours in the row of `v` estimates, without bias, that over all of them: 1 where
    /// all are there.
    pub fn scale(&self, v: u32) -> f64 {
        match self {
            Self::Whole(_) | Self::Arcs { .. } | Self::Weighted(_) => 1.0,
            Self::Sampled(_) | Self::Listed(_) => self.degree(v) as f64 / self.neighbors(v).len().max(1) as f64,
        }
    }

    /// Where each node's row starts in [`Messages::targets`]; one more at the end.
    pub fn offsets(&self) -> &[usize] {
        match self {
            Self::Whole(graph) => graph.offsets(),
            Self::Arcs { incoming, .. } => incoming.offsets(),
            Self::Weighted(edges) => edges.edges.offsets(),
            Self::Sampled(sample) => &sample.offsets,
            Self::Listed(edges) => edges.of_all(),
        }
    }

    /// All rows, one after the other.
    pub fn targets(&self) -> &[u32] {
        match self {
            Self::Whole(graph) => graph.targets(),
            Self::Arcs { incoming, .. } => incoming.targets(),
            Self::Weighted(edges) => edges.edges.targets(),
            Self::Sampled(sample) => &sample.targets,
            Self::Listed(edges) => &edges.targets,
        }
    }

    /// Whether an edge is in the rows of both of its endpoints.
    pub fn is_symmetric(&self) -> bool {
        match self {
            Self::Weighted(edges) => edges.edges.is_symmetric(),
            _ => matches!(self, Self::Whole(_)),
        }
    }

    /// The graph, for a model that reads more of it than the neighbours of nodes.
    ///
    /// # Errors
    /// If there is a sample alone. Options are checked for that before.
    pub fn whole(&self) -> Result<&Arc<Graph>, BuildError> {
        match self {
            Self::Whole(graph) | Self::Arcs { graph, .. } => Ok(graph),
            Self::Weighted(edges) => edges.edges.whole(),
            Self::Sampled(_) | Self::Listed(_) => {
                Err(OptionError::invalid("batch_nodes", "a number", "NULL for this model").into())
            }
        }
    }
}

impl From<&Arc<Graph>> for Messages {
    fn from(graph: &Arc<Graph>) -> Self {
        Self::Whole(Arc::clone(graph))
    }
}
