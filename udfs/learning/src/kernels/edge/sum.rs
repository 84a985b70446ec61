//! Weighted sums of nodes along edges, to the targets and back to the sources.

use bonnet_graph::Stopped;

use super::{EdgeArgs, HeadShape, Incoming, Outgoing};
use crate::kernels::attention::add_scaled;
use crate::kernels::parallel::for_each_block;
use crate::kernels::simd::{self, Body, Vectors};
use crate::kernels::sparse::gather;

/// The way in which a sum is stored in its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// Replaces it.
    Replace,
    /// Is added to it.
    Add,
}

/// `out[i] = sum over the edges (j, i) of w[e] * x[j]` head by head, for the rows `i` of a set. O(edges * stride).
pub fn sum_sources(
    args: EdgeArgs<'_, Incoming<'_>>,
    shape: HeadShape,
    weights: &[f32],
    x: &[f32],
    store: Store,
    out: &mut [f32],
) -> Result<(), Stopped> {
    let EdgeArgs { set, edges, monitor } = args;
    for_each_block(set, out, shape.stride(), monitor, |rows, first, out| {
        simd::run_wide(Sources { rows, first, edges, shape, weights, x, store, out });
    })
}

struct Sources<'a> {
    rows: &'a [u32],
    first: usize,
    edges: Incoming<'a>,
    shape: HeadShape,
    weights: &'a [f32],
    x: &'a [f32],
    store: Store,
    out: &'a mut [f32],
}

impl Body for Sources<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, edges, shape: HeadShape { heads, dim }, weights, x, store, out } = self;
        let stride = heads * dim;
        for &row in rows {
            let range = edges.row(row);
            let out = &mut out[(row as usize - first) * stride..][..stride];
            if store == Store::Replace {
                out.fill(0.0);
            }
            let sources = &edges.sources[range.clone()];
            if heads == 1 {
                gather::<V>(sources, &weights[range], x, stride, out);
                continue;
            }
            for (weights, &source) in weights[range.start * heads..range.end * heads].chunks_exact(heads).zip(sources) {
                let x = &x[source as usize * stride..][..stride];
                for (h, &weight) in weights.iter().enumerate() {
                    add_scaled::<V>(weight, &x[h * dim..(h + 1) * dim], &mut out[h * dim..(h + 1) * dim]);
                }
            }
        }
    }
}

/// `out[j] = sum over the edges (j, i) of w[e] * g[i]` head by head, for the rows `j` of a set: the edges by source, their
/// weights in the order of the targets. O(edges * stride).
pub fn sum_targets(
    args: EdgeArgs<'_, Outgoing<'_>>,
    shape: HeadShape,
    weights: &[f32],
    g: &[f32],
    store: Store,
    out: &mut [f32],
) -> Result<(), Stopped> {
    let EdgeArgs { set, edges, monitor } = args;
    for_each_block(set, out, shape.stride(), monitor, |rows, first, out| {
        simd::run_wide(Targets { rows, first, edges, shape, weights, g, store, out });
    })
}

struct Targets<'a> {
    rows: &'a [u32],
    first: usize,
    edges: Outgoing<'a>,
    shape: HeadShape,
    weights: &'a [f32],
    g: &'a [f32],
    store: Store,
    out: &'a mut [f32],
}

impl Body for Targets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        /// Weights that are collected at a time.
        const CHUNK: usize = 64;
        let Self { rows, first, edges, shape: HeadShape { heads, dim }, weights, g, store, out } = self;
        let stride = heads * dim;
        let mut collected = [0f32; CHUNK];
        for &row in rows {
            let range = edges.offsets[row as usize]..edges.offsets[row as usize + 1];
            let (targets, numbers) = (&edges.targets[range.clone()], &edges.edges[range]);
            let out = &mut out[(row as usize - first) * stride..][..stride];
            if store == Store::Replace {
                out.fill(0.0);
            }
            if heads == 1 {
                for (targets, numbers) in targets.chunks(CHUNK).zip(numbers.chunks(CHUNK)) {
                    for (weight, &edge) in collected.iter_mut().zip(numbers) {
                        *weight = weights[edge as usize];
                    }
                    gather::<V>(targets, &collected[..targets.len()], g, stride, out);
                }
                continue;
            }
            for (&target, &edge) in targets.iter().zip(numbers) {
                let weights = &weights[edge as usize * heads..][..heads];
                let g = &g[target as usize * stride..][..stride];
                for (h, &weight) in weights.iter().enumerate() {
                    add_scaled::<V>(weight, &g[h * dim..(h + 1) * dim], &mut out[h * dim..(h + 1) * dim]);
                }
            }
        }
    }
}
