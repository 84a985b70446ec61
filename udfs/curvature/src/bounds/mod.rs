//! Both sides of the inequalities of Curvature Filtrations (Southern et al., NeurIPS 2023, Sec. 3.1 and App. B.1), so that one sees
//! where they hold.

mod component;
mod edge_changes;
mod edges;

pub use edge_changes::edge_change_bounds;
pub use edges::edge_bounds;

use bonnet_graph::Stopped;

use crate::{OllivierError, ResistanceError};

/// An inequality lower <= value <= upper about an edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The statement.
    pub statement: Statement,
    /// The smaller endpoint.
    pub src: u32,
    /// The larger endpoint.
    pub dst: u32,
    /// The least that the value may be; minus infinity where nothing is said.
    pub lower: f64,
    /// The value.
    pub value: f64,
    /// The most that it may be; infinite where nothing is said, NaN where what is said means nothing.
    pub upper: f64,
}

impl Bound {
    /// Whether it holds, but for rounding; `None` where a side means nothing.
    pub fn holds(&self) -> Option<bool> {
        const ROUNDING: f64 = 1e-9;
        let room = |bound: f64| ROUNDING * (1.0 + bound.abs().min(self.value.abs()));
        if self.lower.is_nan() || self.upper.is_nan() {
            return None;
        }
        Some(self.value >= self.lower - room(self.lower) && self.value <= self.upper + room(self.upper))
    }
}

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statement {
    /// Lemma 1: Ollivier-Ricci curvature is at most (J(i) + J(j)) / d(i, j), with the jumps J (after Bonnet and Myers).
    Jump,
    /// Proposition 1: the effective resistance, which is the commute time over 2 m, is between half of 1/d(i) + 1/d(j) and this sum over
    /// the spectral gap.
    Commute,
    /// Theorem 2: Forman curvature rises by at most 2 and falls by at most 1 when an edge is added, and the other way round.
    Forman,
    /// Theorem 3: Ollivier-Ricci curvature after a change.
    Ollivier,
    /// Theorems 4 and 7: an edge more lowers no resistance curvature, an edge less raises none. **False**: the path 3 - 0 - 1 - 2 and the
    /// edge (0, 2), which lowers that of (0, 3) from 1 to 2/3.
    ResistanceMonotone,
    /// Theorems 4 and 7: by how much resistance curvature changes at most. That of Theorem 7 is **false** as printed, and negative where
    /// `delta` is large: from its proof follows (delta (d(i) + d(j)) + 2 delta (p(i) + p(j)) / R) / (R + delta), not the other sign.
    ResistanceBound,
}

impl Statement {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jump => "jump",
            Self::Commute => "commute",
            Self::Forman => "forman",
            Self::Ollivier => "ollivier",
            Self::ResistanceMonotone => "resistance_monotone",
            Self::ResistanceBound => "resistance_bound",
        }
    }
}

/// Why there are no bounds.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BoundsError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// That of the curvature.
    #[error("{0}")]
    Ollivier(OllivierError),
    /// That of the resistances.
    #[error("{0}")]
    Resistance(ResistanceError),
    /// A change is about a node that the graph lacks.
    #[error("a change names the node {0}, which the graph lacks")]
    Node(u32),
    /// The eigenvalues were not found.
    #[error("the eigenvalues of a component of {0} nodes were not found")]
    Eigenvalues(usize),
}

impl From<OllivierError> for BoundsError {
    fn from(error: OllivierError) -> Self {
        match error {
            OllivierError::Stopped(reason) => Self::Stopped(reason),
            error => Self::Ollivier(error),
        }
    }
}

impl From<ResistanceError> for BoundsError {
    fn from(error: ResistanceError) -> Self {
        match error {
            ResistanceError::Stopped(reason) => Self::Stopped(reason),
            error => Self::Resistance(error),
        }
    }
}
