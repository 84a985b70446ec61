//! The parts that filtrations by edges and by vertices share.

use bonnet_graph::Stopped;

use crate::diagram::{Point, sort};

/// An edge of a filtered graph: its endpoints, the smaller first, and the value at which it enters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FilteredEdge {
    pub ends: (u32, u32),
    pub value: f64,
}

/// Options of a filtration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FiltrationOptions {
    /// The complex that is filtered.
    pub complex: Complex,
    /// When vertices enter a filtration by edges.
    pub vertices: Vertices,
    /// The treatment of classes that never die.
    pub essential: Essential,
    /// Whether small or large values come first.
    pub direction: Direction,
}

/// The complex that is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Complex {
    /// Vertices and edges.
    #[default]
    Graph,
    /// With every triangle, from its last edge on: the clique complex up to dimension 2.
    Triangles,
}

/// When vertices enter a filtration by edges. A vertex never enters after its edges.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Vertices {
    /// With its first edge; a vertex without edges never.
    #[default]
    FirstEdge,
    /// With the first edge of the graph.
    Lowest,
    /// At this value, or with its first edge if that is earlier. A finite number.
    At(f64),
}

/// The treatment of classes that never die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Essential {
    /// The death of essential classes is infinite.
    #[default]
    Infinite,
    /// They die at the last value of the filtration.
    Max,
    /// They are left out.
    Drop,
}

/// Whether small or large values come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Small values first.
    #[default]
    Sublevel,
    /// Large values first.
    Superlevel,
}

impl Direction {
    /// The value as seen along the filtration, where smaller is always earlier; its own inverse.
    pub(crate) fn along(self, value: f64) -> f64 {
        match self {
            // Adding 0 makes -0 and 0 one value.
            Self::Sublevel => value + 0.0,
            Self::Superlevel => 0.0 - value,
        }
    }
}

/// Why a graph has no filtration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FiltrationError {
    /// The host ended the computation.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// An edge has two values.
    #[error("edge ({src}, {dst}) has two values, {first} and {second}")]
    TwoValues {
        /// The first endpoint.
        src: u32,
        /// The second endpoint.
        dst: u32,
        /// One value, the smaller.
        first: f64,
        /// Another.
        second: f64,
    },
    /// The value of an edge is NaN or infinite.
    #[error("edge ({src}, {dst}) has the value {value}, which is not finite")]
    EdgeNotFinite {
        /// The first endpoint.
        src: u32,
        /// The second endpoint.
        dst: u32,
        /// The value that is not finite.
        value: f64,
    },
    /// The value of a node is NaN or infinite.
    #[error("node {node} has the value {value}, which is not finite")]
    NodeNotFinite {
        /// The node.
        node: u32,
        /// The value that is not finite.
        value: f64,
    },
}

/// Brings the points of a filtration along `direction` into the form that the options ask for, in the order of
/// dimension, birth and death. `last` is the last value along the filtration.
pub(crate) fn finish(mut points: Vec<Point>, last: f64, options: &FiltrationOptions) -> Vec<Point> {
    match options.essential {
        Essential::Infinite => {}
        Essential::Max => {
            points.iter_mut().filter(|point| point.is_essential()).for_each(|point| point.death = last);
            points.retain(|point| point.birth < point.death);
        }
        Essential::Drop => points.retain(|point| !point.is_essential()),
    }
    for point in &mut points {
        point.birth = options.direction.along(point.birth);
        point.death = options.direction.along(point.death);
    }
    sort(&mut points);
    points
}
