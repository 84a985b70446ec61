//! Coefficients that may be negative: hyperbolic tangents of scores, each times a factor of its source.

use bonnet_graph::{Monitor, Stopped};

use super::{Incoming, for_each_edge_block};
use crate::kernels::elementwise;
use crate::kernels::parallel::sum_blocks;
use crate::kernels::rows::RowSet;
use crate::kernels::simd::{self, Body, Vectors};

/// Replaces the scores of the edges into the rows of a set by their hyperbolic tangents. O(edges * heads).
pub fn tanh_scores(
    set: &RowSet,
    edges: Incoming<'_>,
    heads: usize,
    values: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Tangents<'a>(&'a mut [f32]);
    impl Body for Tangents<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            self.0.iter_mut().for_each(|x| *x = elementwise::tanh::<V>(*x));
        }
    }
    for_each_edge_block(set, edges, values, heads, monitor, |rows, first_edge, values| {
        for &row in rows {
            let range = edges.row(row);
            simd::run_wide(Tangents(&mut values[(range.start - first_edge) * heads..(range.end - first_edge) * heads]));
        }
    })
}

/// From the gradient of hyperbolic tangents to that of the scores over a scale, in place: `d *= scale (1 - tanh^2)`.
/// O(edges * heads).
pub fn through_tanh(
    set: &RowSet,
    edges: Incoming<'_>,
    heads: usize,
    scale: f32,
    tangents: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_edge_block(set, edges, gradient, heads, monitor, |rows, first_edge, gradient| {
        for &row in rows {
            let range = edges.row(row);
            let tangents = &tangents[range.start * heads..range.end * heads];
            let gradient = &mut gradient[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
            gradient.iter_mut().zip(tangents).for_each(|(d, t)| *d *= scale * (1.0 - t * t));
        }
    })
}

/// A factor for each source and head: source j has row `j % period` of a table with a column a head.
#[derive(Debug, Clone, Copy)]
pub struct SourceFactors<'a> {
    /// The table, row by row.
    pub values: &'a [f32],
    /// Its rows.
    pub period: usize,
    /// Its columns.
    pub heads: usize,
}

impl SourceFactors<'_> {
    #[inline(always)]
    fn of(&self, source: u32) -> &[f32] {
        &self.values[source as usize % self.period * self.heads..][..self.heads]
    }

    /// Multiplies the quantities of the edges into the rows of a set by the factors of their sources, in place; its own
    /// gradient. O(edges * heads).
    pub fn scale(
        &self,
        set: &RowSet,
        edges: Incoming<'_>,
        values: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let heads = self.heads;
        for_each_edge_block(set, edges, values, heads, monitor, |rows, first_edge, values| {
            for &row in rows {
                let range = edges.row(row);
                let values = &mut values[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
                for (values, &source) in values.chunks_exact_mut(heads).zip(&edges.sources[range]) {
                    values.iter_mut().zip(self.of(source)).for_each(|(value, factor)| *value *= factor);
                }
            }
        })
    }

    /// The gradient of the table: the sum over the edges into the rows of a set of what was scaled times the gradient of the
    /// result. `partials` has room for a table a block. O(edges * heads).
    pub fn gradient(
        &self,
        set: &RowSet,
        edges: Incoming<'_>,
        [scaled, d_result]: [&[f32]; 2],
        partials: &mut [f32],
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let Self { period, heads, .. } = *self;
        sum_blocks(set, period * heads, partials, out, monitor, |rows, sums| {
            for &row in rows {
                for edge in edges.row(row) {
                    let sums = &mut sums[edges.sources[edge] as usize % period * heads..][..heads];
                    let (scaled, d) = (&scaled[edge * heads..][..heads], &d_result[edge * heads..][..heads]);
                    sums.iter_mut().zip(scaled).zip(d).for_each(|((sum, x), d)| *sum += x * d);
                }
            }
        })
    }
}
