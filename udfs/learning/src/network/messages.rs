//! Along which edges a model sends its messages: those of the whole graph, or of a sample of it.

use std::sync::Arc;

use bonnet_graph::{Digraph, Graph};

use crate::error::{BuildError, OptionError};
use crate::sample::Sample;

/// The edges into each node of a problem.
#[derive(Debug, Clone)]
pub enum Messages {
    /// Those of the graph.
    Whole(Arc<Graph>),
    /// Arcs: a node hears those that lead to it. Degrees count them.
    Arcs {
        /// The graph whose edges the arcs stand for.
        graph: Arc<Graph>,
        /// The arcs the other way round: the rows are those of their heads.
        incoming: Arc<Digraph>,
    },
    /// Those that were sampled. A row is never its node's own neighbours in a smaller graph: degrees are the graph's.
    Sampled(Arc<Sample>),
}

impl Messages {
    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.offsets().len() - 1
    }

    /// The nodes whose messages `v` receives, in ascending order.
    pub fn neighbors(&self, v: u32) -> &[u32] {
        &self.targets()[self.offsets()[v as usize]..self.offsets()[v as usize + 1]]
    }

    /// The degree of `v` in the whole graph; of arcs, the number of those that lead to it.
    pub fn degree(&self, v: u32) -> usize {
        match self {
            Self::Whole(graph) => graph.degree(v),
            Self::Arcs { incoming, .. } => incoming.successors(v).len(),
            Self::Sampled(sample) => sample.degrees[v as usize] as usize,
        }
    }

    /// The factor by which a sum over the neighbours in the row of `v` estimates, without bias, that over all of them: 1 where
    /// all are there.
    pub fn scale(&self, v: u32) -> f64 {
        match self {
            Self::Whole(_) | Self::Arcs { .. } => 1.0,
            Self::Sampled(_) => self.degree(v) as f64 / self.neighbors(v).len().max(1) as f64,
        }
    }

    /// Where each node's row starts in [`Messages::targets`]; one more at the end.
    pub fn offsets(&self) -> &[usize] {
        match self {
            Self::Whole(graph) => graph.offsets(),
            Self::Arcs { incoming, .. } => incoming.offsets(),
            Self::Sampled(sample) => &sample.offsets,
        }
    }

    /// All rows, one after the other.
    pub fn targets(&self) -> &[u32] {
        match self {
            Self::Whole(graph) => graph.targets(),
            Self::Arcs { incoming, .. } => incoming.targets(),
            Self::Sampled(sample) => &sample.targets,
        }
    }

    /// Whether an edge is in the rows of both of its ends.
    pub fn is_symmetric(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// The graph, for a model that reads more of it than the neighbours of nodes.
    ///
    /// # Errors
    /// If there is a sample alone. Options are checked for that before.
    pub fn whole(&self) -> Result<&Arc<Graph>, BuildError> {
        match self {
            Self::Whole(graph) | Self::Arcs { graph, .. } => Ok(graph),
            Self::Sampled(_) => Err(OptionError::invalid("batch_nodes", "a number", "NULL for this model").into()),
        }
    }
}

impl From<&Arc<Graph>> for Messages {
    fn from(graph: &Arc<Graph>) -> Self {
        Self::Whole(Arc::clone(graph))
    }
}
