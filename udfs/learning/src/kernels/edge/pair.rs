//! Scores that are a function of the sum of one number of the target and one of the source.

use bonnet_graph::{Monitor, Stopped};

use super::{Incoming, for_each_edge_block};
use crate::kernels::elementwise::{sigmoid, tanh};
use crate::kernels::rows::RowSet;
use crate::kernels::simd::{self, Body, Vectors};

/// The function that an edge's score passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// No function: the score itself.
    Identity,
    /// `tanh`, in (-1, 1): an edge may repel. Absolute error below 2e-7.
    Tanh,
    /// The logistic function, in (0, 1).
    Sigmoid,
    /// `x` above 0, `slope * x` below; the slope is positive.
    Leaky(f32),
}

impl Gate {
    #[inline(always)]
    fn value<V: Vectors>(self, x: f32) -> f32 {
        match self {
            Self::Identity => x,
            Self::Tanh => tanh::<V>(x),
            Self::Sigmoid => sigmoid::<V>(x),
            Self::Leaky(slope) => {
                if x > 0.0 {
                    x
                } else {
                    slope * x
                }
            }
        }
    }

    /// The derivative, from the value.
    #[inline(always)]
    fn slope(self, value: f32) -> f32 {
        match self {
            Self::Identity => 1.0,
            Self::Tanh => 1.0 - value * value,
            Self::Sigmoid => value * (1.0 - value),
            Self::Leaky(slope) => {
                if value > 0.0 {
                    1.0
                } else {
                    slope
                }
            }
        }
    }
}

/// Where the two numbers of an edge come from: the first `heads` columns of two matrices of nodes.
#[derive(Debug, Clone, Copy)]
pub struct PairScores<'a> {
    /// The number of heads.
    pub heads: usize,
    /// The terms of the targets.
    pub target: &'a [f32],
    /// The terms of the sources.
    pub source: &'a [f32],
    /// Stored columns of either matrix.
    pub stride: usize,
    /// The function that the sum passes.
    pub gate: Gate,
}

/// `out[e] = gate(target[i] + source[j])` head by head, for the edges from `j` into the rows `i` of a set. The gradient:
/// [`through_gate`], then [`super::sum_at_targets`] and [`super::sum_at_sources`]. O(edges * heads).
pub fn pair_scores(
    set: &RowSet,
    edges: Incoming<'_>,
    scores: PairScores<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_edge_block(set, edges, out, scores.heads, monitor, |rows, first_edge, out| {
        simd::run_wide(Forward { rows, edges, scores, first_edge, out });
    })
}

struct Forward<'a> {
    rows: &'a [u32],
    edges: Incoming<'a>,
    scores: PairScores<'a>,
    first_edge: usize,
    out: &'a mut [f32],
}

impl Body for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, edges, scores: PairScores { heads, target, source, stride, gate }, first_edge, out } = self;
        for &row in rows {
            let range = edges.row(row);
            let out = &mut out[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
            let target = &target[row as usize * stride..][..heads];
            for (out, &j) in out.chunks_exact_mut(heads).zip(&edges.sources[range]) {
                let source = &source[j as usize * stride..][..heads];
                for h in 0..heads {
                    out[h] = target[h] + source[h];
                }
            }
            // One loop over all, so that short rows of heads fill vector registers.
            out.iter_mut().for_each(|out| *out = gate.value::<V>(*out));
        }
    }
}

/// From the gradient of gated scores to that of the sums, in place: `d *= gate'(value)`, from the gate's `values`.
/// O(edges * heads).
pub fn through_gate(
    set: &RowSet,
    edges: Incoming<'_>,
    heads: usize,
    gate: Gate,
    values: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_edge_block(set, edges, gradient, heads, monitor, |rows, first_edge, gradient| {
        for &row in rows {
            let range = edges.row(row);
            let values = &values[range.start * heads..range.end * heads];
            let gradient = &mut gradient[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
            gradient.iter_mut().zip(values).for_each(|(d, &value)| *d *= gate.slope(value));
        }
    })
}
