//! The colours that nodes have before the first round.

use bonnet_graph::{Graph, Monitor, Stopped};

use super::graph_set::GraphSet;
use super::numbers::{numbered, numbered_below};
use crate::descriptors::orbit_counts;

/// The subgraphs whose counts at a node are part of its first colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Substructures {
    /// None: nodes differ by their labels alone.
    #[default]
    None,
    /// The connected induced subgraphs of 2 and 3 nodes, by the part that the node plays in them.
    Three,
    /// Those of 2 to 4 nodes.
    Four,
}

impl Substructures {
    /// The number of orbits that are counted.
    fn orbits(self) -> usize {
        match self {
            Self::None => 0,
            Self::Three => 4,
            Self::Four => 15,
        }
    }

    /// The counts at each node of a graph; an empty list each where none are wanted.
    pub(super) fn counts(self, graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<Vec<u64>>, Stopped> {
        match self.orbits() {
            0 => Ok(vec![Vec::new(); graph.n_nodes()]),
            orbits => Ok(orbit_counts(graph, monitor)?.iter().map(|counts| counts[..orbits].to_vec()).collect()),
        }
    }
}

/// The first colour of each node of the union, numbered from 0 as they come: nodes are alike if their labels and their counts are.
pub(super) fn first_colors(
    set: &GraphSet,
    substructures: Substructures,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, Stopped> {
    if substructures == Substructures::None {
        return Ok(first_labels(set));
    }
    let counts = substructures.counts(set.union(), monitor)?;
    Ok(numbered(set.labels().iter().zip(counts)))
}

/// The labels of the nodes of the union, numbered from 0 as they come.
pub(crate) fn first_labels(set: &GraphSet) -> Vec<u32> {
    let labels = set.labels();
    let most = labels.iter().max().map_or(0, |&most| most as usize + 1);
    match most <= 4 * labels.len() + 1024 {
        true => numbered_below(most, labels),
        false => numbered(labels.iter()),
    }
}
