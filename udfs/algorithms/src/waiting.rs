//! The entries of the heap of Dijkstra's search.

use std::cmp::Ordering;

/// A node that a path leads to; the nearest is the greatest, of two at one distance the smaller number.
#[derive(PartialEq)]
pub(crate) struct Waiting {
    pub(crate) distance: f64,
    pub(crate) node: u32,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
