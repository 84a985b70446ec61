//! The figures of a node's neighbourhood alone that its curvature needs.

use bonnet_graph::{Graph, Monitor, Stopped};

use crate::triangles::triangles_per_node;

/// A node and its neighbours in an undirected graph; with a loop, the node itself is one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Centre {
    /// The number k of neighbours.
    pub(super) degree: u64,
    /// The number of adjacent pairs of neighbours: triangles, and one pair for each true neighbour of a looped node.
    pub(super) links: u64,
    /// Whether the node neighbours itself.
    pub(super) looped: bool,
}

impl Centre {
    /// Whether there is a pair of neighbours.
    pub(super) fn has_pairs(&self) -> bool {
        self.degree >= 2
    }

    /// Times the sum of 1/D over anchors: k times what does not depend on where the neighbours lie,
    /// (looped)/2 - 3 L k / (8 P).
    pub(super) fn harmonic_weight(&self) -> f64 {
        let own = if self.looped { 0.5 } else { 0.0 };
        own - 3.0 * self.links as f64 / (4.0 * (self.degree - 1) as f64)
    }

    /// The mean squared distance of a pair of neighbours: 1 if adjacent, else 4.
    pub(super) fn mean_square(&self) -> f64 {
        let pairs = self.degree as f64 * (self.degree - 1) as f64 / 2.0;
        4.0 - 3.0 * self.links as f64 / pairs
    }
}

/// The centres of all nodes; `loops` lists which have a loop that counts.
pub(super) fn centres(graph: &Graph, looped: &[bool], monitor: &dyn Monitor) -> Result<Vec<Centre>, Stopped> {
    let triangles = triangles_per_node(graph, monitor)?;
    let centre = |(v, triangles): (usize, u64)| {
        let degree = graph.degree(v as u32) as u64;
        let own = u64::from(looped[v]);
        Centre { degree: degree + own, links: triangles + own * degree, looped: looped[v] }
    };
    Ok(triangles.into_iter().enumerate().map(centre).collect())
}
