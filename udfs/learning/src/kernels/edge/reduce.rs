//! From edges to nodes and back: sums and means of edge quantities at their ends.

use bonnet_graph::Stopped;

use super::{EdgeArgs, Incoming, MAX_HEADS, Outgoing, Store, for_each_edge_block};
use crate::kernels::parallel::for_each_block;

/// The reduction of the quantities of a node's edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// The sum of the quantities.
    Sum,
    /// The mean of the quantities; 0 for a node without any.
    Mean,
}

impl Total {
    fn scale(self, edges: usize) -> f32 {
        match self {
            Self::Sum => 1.0,
            Self::Mean => 1.0 / edges.max(1) as f32,
        }
    }
}

/// The total over the edges into each row `i` of a set, `heads` numbers in the first of `stride` columns; other columns
/// are left alone. O(edges * heads).
pub fn sum_at_targets(
    args: EdgeArgs<'_, Incoming<'_>>,
    heads: usize,
    values: &[f32],
    total: Total,
    store: Store,
    out: &mut [f32],
    stride: usize,
) -> Result<(), Stopped> {
    let EdgeArgs { set, edges, monitor } = args;
    for_each_block(set, out, stride, monitor, |rows, first, out| {
        for &row in rows {
            let range = edges.row(row);
            let mut sum = [0f32; MAX_HEADS];
            for values in values[range.start * heads..range.end * heads].chunks_exact(heads) {
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            let scale = total.scale(range.len());
            let out = &mut out[(row as usize - first) * stride..][..heads];
            for (out, sum) in out.iter_mut().zip(&sum) {
                *out = if store == Store::Replace { sum * scale } else { *out + sum * scale };
            }
        }
    })
}

/// The sum over the edges out of each row `j` of a set, `heads` numbers in the first of `stride` columns; other columns
/// are left alone. O(edges * heads).
pub fn sum_at_sources(
    args: EdgeArgs<'_, Outgoing<'_>>,
    heads: usize,
    values: &[f32],
    store: Store,
    out: &mut [f32],
    stride: usize,
) -> Result<(), Stopped> {
    let EdgeArgs { set, edges, monitor } = args;
    for_each_block(set, out, stride, monitor, |rows, first, out| {
        for &row in rows {
            let mut sum = [0f32; MAX_HEADS];
            for &edge in &edges.edges[edges.offsets[row as usize]..edges.offsets[row as usize + 1]] {
                let values = &values[edge as usize * heads..][..heads];
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            let out = &mut out[(row as usize - first) * stride..][..heads];
            for (out, sum) in out.iter_mut().zip(&sum) {
                *out = if store == Store::Replace { *sum } else { *out + sum };
            }
        }
    })
}

/// Gives every edge into the rows of a set its target's number, or its share of it: the gradient of [`sum_at_targets`].
/// The numbers are the first `heads` of `stride` columns. O(edges * heads).
pub fn spread(
    args: EdgeArgs<'_, Incoming<'_>>,
    heads: usize,
    x: &[f32],
    stride: usize,
    total: Total,
    out: &mut [f32],
) -> Result<(), Stopped> {
    let EdgeArgs { set, edges, monitor } = args;
    for_each_edge_block(set, edges, out, heads, monitor, |rows, first_edge, out| {
        for &row in rows {
            let range = edges.row(row);
            let scale = total.scale(range.len());
            let x = &x[row as usize * stride..][..heads];
            let out = &mut out[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
            for out in out.chunks_exact_mut(heads) {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = x * scale);
            }
        }
    })
}
