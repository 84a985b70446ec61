//! Quantities of edges: scores, coefficients and weighted messages, forward and backward.
//!
//! An edge leads from a source `j` to a target `i`. Its quantities are stored edge by edge in the order of [`Incoming`],
//! heads side by side. A matrix of nodes holds `heads * dim` stored columns, `dim` a multiple of 8; a head meets its own
//! columns only.
//!
//! The sampled product [`dots`] and the weighted sums [`sum_sources`], [`sum_targets`] are each other's gradients:
//!
//! | forward                       | gradient of the weights   | gradient of the nodes                              |
//! |-------------------------------|---------------------------|----------------------------------------------------|
//! | `out = sum_sources(w, x)`     | `dots(d_out, x)`          | `d_x = sum_targets(w, d_out)`                      |
//! | `w = dots(q, k)`              |                           | `d_q = sum_sources(d_w, k)`, `d_k = sum_targets(d_w, q)` |
//!
//! Likewise [`sum_at_targets`] and [`sum_at_sources`] are the gradients of [`pair_scores`].

mod dot;
mod label_loss;
mod pair;
mod reduce;
mod scalar_mlp;
mod similarity;
mod softmax;
mod sum;
mod tanh;
mod terms;

use std::fmt;

use bonnet_graph::{Monitor, Stopped};

pub use super::attention::{Incoming, MAX_HEADS, Outgoing};
pub use dot::dots;
pub use label_loss::LabelledEdges;
pub use pair::{Gate, PairScores, pair_scores, through_gate};
pub use reduce::{Total, spread, sum_at_sources, sum_at_targets};
pub use scalar_mlp::ScalarMlp;
pub use similarity::{FeatureRows, Similarity, similarities};
pub use softmax::{softmax, softmax_gradient};
pub use sum::{Store, sum_sources, sum_targets};
pub use tanh::{SourceFactors, tanh_scores, through_tanh};
pub use terms::{EdgeTerms, TableShape, rectify};

use super::parallel::for_each_block_with;
use super::rows::RowSet;
use crate::ground::random::Dropout;

/// The columns of a matrix of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadShape {
    /// The number of heads, at most [`MAX_HEADS`].
    pub heads: usize,
    /// Stored columns of a head, a multiple of 8.
    pub dim: usize,
}

impl HeadShape {
    /// Stored columns of a node.
    pub fn stride(self) -> usize {
        self.heads * self.dim
    }
}

/// The operands that kernels of edges have in common; `E` is [`Incoming`] or [`Outgoing`].
#[derive(Clone, Copy)]
pub struct EdgeArgs<'a, E> {
    /// The rows that are computed: targets of incoming edges, sources of outgoing ones.
    pub set: &'a RowSet,
    /// The edges of all rows.
    pub edges: E,
    /// The host.
    pub monitor: &'a dyn Monitor,
}

impl<E: fmt::Debug> fmt::Debug for EdgeArgs<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EdgeArgs").field("set", &self.set).field("edges", &self.edges).finish_non_exhaustive()
    }
}

/// Calls `body(rows, first edge of the part, part)` for every block that holds rows of the set, where the part holds the
/// `width` quantities of each edge into the block.
fn for_each_edge_block(
    set: &RowSet,
    edges: Incoming<'_>,
    items: &mut [f32],
    width: usize,
    monitor: &dyn Monitor,
    body: impl Fn(&[u32], usize, &mut [f32]) + Sync,
) -> Result<(), Stopped> {
    let mut parts = edges.split(set, items, width);
    // The rows have no output of their own.
    let mut nothing = vec![(); set.n_rows()];
    for_each_block_with(set, &mut nothing, 1, &mut parts, monitor, |rows, _, _, part| {
        body(rows, part.0, &mut *part.1);
    })
}

/// Multiplies edge quantities by constant factors, in place; its own gradient. One head. O(edges).
pub fn scale_edges(
    set: &RowSet,
    edges: Incoming<'_>,
    factors: &[f32],
    values: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_edge_block(set, edges, values, 1, monitor, |rows, first_edge, part| {
        for &row in rows {
            let range = edges.row(row);
            let values = &mut part[range.start - first_edge..range.end - first_edge];
            values.iter_mut().zip(&factors[range]).for_each(|(value, factor)| *value *= factor);
        }
    })
}

/// Multiplies edge quantities by a dropout mask, in place; a mask is its own gradient. The mask of an edge's head is
/// element (i, j * heads + head), whatever other edges are computed. O(edges * heads).
pub fn drop_edges(
    set: &RowSet,
    edges: Incoming<'_>,
    heads: usize,
    dropout: Dropout,
    values: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_edge_block(set, edges, values, heads, monitor, |rows, first_edge, part| {
        for &row in rows {
            let (range, key) = (edges.row(row), dropout.row(row));
            let values = &mut part[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
            for (values, &source) in values.chunks_exact_mut(heads).zip(&edges.sources[range]) {
                let element = source.wrapping_mul(heads as u32);
                for (head, value) in values.iter_mut().enumerate() {
                    *value *= dropout.factor(key, element.wrapping_add(head as u32));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests;
