//! Terms of the scores that hang on the edge alone: rows of a table, by the edge's kind or weighed by its numbers.

use bonnet_graph::{Monitor, Stopped};

use super::{Incoming, for_each_edge_block};
use crate::kernels::parallel::sum_blocks;
use crate::kernels::rows::RowSet;

/// The numbers of a table, a row for each kind of edges or number of an edge: the first `heads` of `stride` columns.
#[derive(Debug, Clone, Copy)]
pub struct TableShape {
    /// The numbers of a row.
    pub heads: usize,
    /// Its stored columns.
    pub stride: usize,
}

/// What an edge takes of a table.
#[derive(Debug, Clone, Copy)]
pub enum EdgeTerms<'a> {
    /// The row of the edge's kind.
    Kinds(&'a [u32]),
    /// The sum of all rows, each times a number of the edge: so many numbers an edge.
    Weights(&'a [f32], usize),
}

impl EdgeTerms<'_> {
    /// Adds the terms of the edges into the rows of a set to their quantities. O(edges * heads), times the rows of the table for
    /// [`EdgeTerms::Weights`].
    pub fn add(
        self,
        set: &RowSet,
        edges: Incoming<'_>,
        TableShape { heads, stride }: TableShape,
        table: &[f32],
        values: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        for_each_edge_block(set, edges, values, heads, monitor, |rows, first_edge, values| {
            for edge in rows.iter().flat_map(|&row| edges.row(row)) {
                let values = &mut values[(edge - first_edge) * heads..][..heads];
                match self {
                    Self::Kinds(kinds) => {
                        let terms = &table[kinds[edge] as usize * stride..][..heads];
                        values.iter_mut().zip(terms).for_each(|(value, term)| *value += term);
                    }
                    Self::Weights(weights, n) => {
                        for (weight, terms) in weights[edge * n..][..n].iter().zip(table.chunks_exact(stride)) {
                            values.iter_mut().zip(terms).for_each(|(value, term)| *value += weight * term);
                        }
                    }
                }
            }
        })
    }

    /// The gradient of the table, `out`, from that of the quantities `d`. `partials` has room for a table a block.
    #[expect(clippy::too_many_arguments, reason = "a gradient and its operands")]
    pub fn gradient(
        self,
        set: &RowSet,
        edges: Incoming<'_>,
        TableShape { heads, stride }: TableShape,
        d: &[f32],
        partials: &mut [f32],
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        sum_blocks(set, out.len(), partials, out, monitor, |rows, sums| {
            for edge in rows.iter().flat_map(|&row| edges.row(row)) {
                let d = &d[edge * heads..][..heads];
                match self {
                    Self::Kinds(kinds) => {
                        let sums = &mut sums[kinds[edge] as usize * stride..][..heads];
                        sums.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
                    }
                    Self::Weights(weights, n) => {
                        for (weight, sums) in weights[edge * n..][..n].iter().zip(sums.chunks_exact_mut(stride)) {
                            sums.iter_mut().zip(d).for_each(|(sum, d)| *sum += weight * d);
                        }
                    }
                }
            }
        })
    }
}

/// Replaces the quantities of the edges into the rows of a set by `x` above 0, `slope * x` below. O(edges * heads).
pub fn rectify(
    set: &RowSet,
    edges: Incoming<'_>,
    heads: usize,
    slope: f32,
    values: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_edge_block(set, edges, values, heads, monitor, |rows, first_edge, values| {
        for &row in rows {
            let range = edges.row(row);
            let values = &mut values[(range.start - first_edge) * heads..(range.end - first_edge) * heads];
            values.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { slope * *x });
        }
    })
}
