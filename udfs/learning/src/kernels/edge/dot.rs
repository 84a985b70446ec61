//! The sampled dense-dense product: one scalar product an edge and head.

use bonnet_graph::Stopped;

use super::{EdgeArgs, HeadShape, Incoming, for_each_edge_block};
use crate::kernels::attention::specialise;
use crate::kernels::combine::dot;
use crate::kernels::simd::{self, Body, Vectors};

/// `out[e] = scale * <x[i], y[j]>` head by head, for the edges from `j` into the rows `i` of a set. O(edges * stride).
pub fn dots(
    args: EdgeArgs<'_, Incoming<'_>>,
    shape: HeadShape,
    x: &[f32],
    y: &[f32],
    scale: f32,
    out: &mut [f32],
) -> Result<(), Stopped> {
    let EdgeArgs { set, edges, monitor } = args;
    for_each_edge_block(set, edges, out, shape.heads, monitor, |rows, first_edge, out| {
        simd::run_wide(Dots { rows, edges, shape, x, y, scale, first_edge, out });
    })
}

struct Dots<'a> {
    rows: &'a [u32],
    edges: Incoming<'a>,
    shape: HeadShape,
    x: &'a [f32],
    y: &'a [f32],
    scale: f32,
    first_edge: usize,
    out: &'a mut [f32],
}

impl Body for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, edges, shape, x, y, scale, first_edge, out } = self;
        specialise!(shape, heads, dim, {
            let stride = heads * dim;
            for &row in rows {
                let range = edges.row(row);
                let x = &x[row as usize * stride..][..stride];
                let out = &mut out[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
                for (out, &source) in out.chunks_exact_mut(heads).zip(&edges.sources[range]) {
                    let y = &y[source as usize * stride..][..stride];
                    for (h, out) in out.iter_mut().enumerate() {
                        *out = scale * dot::<V>(&x[h * dim..(h + 1) * dim], &y[h * dim..(h + 1) * dim]);
                    }
                }
            }
        });
    }
}
