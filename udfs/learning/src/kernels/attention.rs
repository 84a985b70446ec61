//! Edge-softmax attention with several heads (Velickovic et al. 2018, Eq. 1-5), forward and backward.
//!
//! `x` holds the transformed nodes, `heads * dim` stored columns, `dim` a multiple of 8. An edge from `j` to `i` has the
//! score `leaky(source[j] + target[i])` in each head; the coefficients of a row of the graph add up to 1, then dropout.
//! Quantities of an edge are stored edge by edge, heads side by side, so that short rows still fill vector registers.

use std::ops::Range;

use bonnet_graph::{Monitor, Stopped};

use super::combine::dot;
use super::elementwise::Finish;
use super::exp::exp;
use super::parallel::{for_each_block, for_each_block_with, sum_blocks};
use super::rows::RowSet;
use super::simd::{self, Body, Vectors, axpy};
use crate::ground::random::Dropout;

/// The largest number of heads.
pub const MAX_HEADS: usize = 64;

/// The shape of an attention layer.
#[derive(Debug, Clone, Copy)]
pub struct AttentionShape {
    /// The number of heads, at most [`MAX_HEADS`].
    pub heads: usize,
    /// Stored columns of a head, a multiple of 8.
    pub dim: usize,
    /// The slope of the leaky rectifier below 0.
    pub slope: f32,
}

impl AttentionShape {
    /// Stored columns of a node.
    pub fn stride(self) -> usize {
        self.heads * self.dim
    }
}

/// The edges into the rows of a graph.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    /// Where the edges of each row start; one more at the end.
    pub offsets: &'a [usize],
    /// The source of each edge.
    pub sources: &'a [u32],
}

/// The edges by their source.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// Where the edges of each source start; one more at the end.
    pub offsets: &'a [usize],
    /// The target of each edge.
    pub targets: &'a [u32],
    /// The number of each edge in [`Incoming`].
    pub edges: &'a [u32],
}

impl Incoming<'_> {
    /// The edges into a row.
    #[inline(always)]
    pub(crate) fn row(&self, row: u32) -> Range<usize> {
        self.offsets[row as usize]..self.offsets[row as usize + 1]
    }

    /// Cuts a list with `width` items an edge into the parts of the blocks of rows.
    pub(crate) fn split<'e>(
        &self,
        set: &RowSet,
        mut items: &'e mut [f32],
        width: usize,
    ) -> Vec<(usize, &'e mut [f32])> {
        let n = self.offsets.len() - 1;
        (0..set.n_blocks())
            .map(|block| {
                let start = self.offsets[(block * set.span()).min(n)];
                let end = self.offsets[((block + 1) * set.span()).min(n)];
                let (part, rest) = std::mem::take(&mut items).split_at_mut((end - start) * width);
                items = rest;
                (start, part)
            })
            .collect()
    }
}

/// Calls the body with the common shapes as constants, so that their loops unroll.
macro_rules! specialise {
    ($shape:expr, $heads:ident, $dim:ident, $call:expr) => {
        match ($shape.heads, $shape.dim) {
            (8, 8) => {
                let ($heads, $dim) = (8, 8);
                $call
            }
            (1, 8) => {
                let ($heads, $dim) = (1, 8);
                $call
            }
            ($heads, $dim) => $call,
        }
    };
}
pub(crate) use specialise;

/// The scalar products of each node of a set with the attention vectors of the sources and of the targets, `heads` of
/// each a node: `out` holds them one after the other, `2 * heads` a node. O(rows * stride).
pub fn scores(
    set: &RowSet,
    shape: AttentionShape,
    x: &[f32],
    source: &[f32],
    target: &[f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Scores<'a>(&'a [u32], usize, AttentionShape, &'a [f32], &'a [f32], &'a [f32], &'a mut [f32]);
    impl Body for Scores<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, first, shape, x, source, target, out) = self;
            specialise!(shape, heads, dim, {
                for &row in rows {
                    let x = &x[row as usize * heads * dim..][..heads * dim];
                    let out = &mut out[(row as usize - first) * 2 * heads..][..2 * heads];
                    for head in 0..heads {
                        let range = head * dim..(head + 1) * dim;
                        out[head] = dot::<V>(&x[range.clone()], &source[range.clone()]);
                        out[heads + head] = dot::<V>(&x[range.clone()], &target[range]);
                    }
                }
            });
        }
    }
    for_each_block(set, out, 2 * shape.heads, monitor, |rows, first, chunk| {
        simd::run_wide(Scores(rows, first, shape, x, source, target, chunk));
    })
}

/// Forward: `out[i] = finish(sum over the edges (j, i) of dropout(alpha) x[j])` for the rows of a set. `alpha` receives
/// the coefficients before dropout, `heads` an edge. The mask of an edge's head is element (i, j * heads + head).
/// O(edges * stride).
#[derive(Debug, Clone, Copy)]
pub struct Attend<'a> {
    /// Heads and widths.
    pub shape: AttentionShape,
    /// The edges into the rows.
    pub edges: Incoming<'a>,
    /// The transformed nodes.
    pub x: &'a [f32],
    /// The result of [`scores`].
    pub scores: &'a [f32],
    /// Dropout of the coefficients.
    pub dropout: Option<Dropout>,
}

impl Attend<'_> {
    /// Computes the rows of a set.
    pub fn run(
        self,
        set: &RowSet,
        finish: Finish<'_>,
        alpha: &mut [f32],
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let mut parts = self.edges.split(set, alpha, self.shape.heads);
        for_each_block_with(set, out, self.shape.stride(), &mut parts, monitor, |rows, first, chunk, part| {
            let (first_edge, alpha) = (part.0, &mut *part.1);
            simd::run_wide(AttendRows { attend: self, rows, first, finish, first_edge, alpha, out: chunk });
        })
    }
}

struct AttendRows<'a> {
    attend: Attend<'a>,
    rows: &'a [u32],
    first: usize,
    finish: Finish<'a>,
    first_edge: usize,
    alpha: &'a mut [f32],
    out: &'a mut [f32],
}

impl Body for AttendRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { attend, rows, first, finish, first_edge, alpha, out } = self;
        specialise!(attend.shape, heads, dim, {
            let stride = heads * dim;
            for &row in rows {
                let edges = attend.edges.row(row);
                let sources = &attend.edges.sources[edges.clone()];
                let alpha = &mut alpha[(edges.start - first_edge) * heads..(edges.end - first_edge) * heads];
                coefficients::<V>(&attend, heads, row, sources, alpha);
                let out = &mut out[(row as usize - first) * stride..][..stride];
                out.fill(0.0);
                weighted_sum::<V>(&attend, heads, dim, row, sources, alpha, out);
                finish.row::<V>(row, out);
            }
        });
    }
}

/// Softmax of the scores of a row's edges, per head.
#[inline(always)]
fn coefficients<V: Vectors>(attend: &Attend<'_>, heads: usize, row: u32, sources: &[u32], alpha: &mut [f32]) {
    let slope = attend.shape.slope;
    let target = &attend.scores[row as usize * 2 * heads + heads..][..heads];
    let mut max = [f32::NEG_INFINITY; MAX_HEADS];
    for (alpha, &source) in alpha.chunks_exact_mut(heads).zip(sources) {
        let source = &attend.scores[source as usize * 2 * heads..][..heads];
        for h in 0..heads {
            let score = leaky(source[h] + target[h], slope);
            alpha[h] = score;
            max[h] = if score > max[h] { score } else { max[h] };
        }
    }
    normalise::<V>(heads, &max, alpha);
}

/// Exponentials of the scores of a row's edges, divided by their sum per head; `max` is the largest score of each head.
#[inline(always)]
pub(crate) fn normalise<V: Vectors>(heads: usize, max: &[f32; MAX_HEADS], alpha: &mut [f32]) {
    let mut sum = [0f32; MAX_HEADS];
    if heads == 1 {
        // One head: the edges are the lanes.
        alpha.iter_mut().for_each(|a| *a = exp::<V>(*a - max[0]));
        sum[0] = alpha.iter().sum();
        let inverse = 1.0 / sum[0];
        alpha.iter_mut().for_each(|a| *a *= inverse);
    } else {
        for alpha in alpha.chunks_exact_mut(heads) {
            for h in 0..heads {
                alpha[h] = exp::<V>(alpha[h] - max[h]);
                sum[h] += alpha[h];
            }
        }
        sum[..heads].iter_mut().for_each(|s| *s = 1.0 / *s);
        for alpha in alpha.chunks_exact_mut(heads) {
            for h in 0..heads {
                alpha[h] *= sum[h];
            }
        }
    }
}

#[inline(always)]
fn leaky(x: f32, slope: f32) -> f32 {
    if x > 0.0 { x } else { slope * x }
}

/// The factors of an edge's heads: its coefficients after dropout.
#[inline(always)]
fn dropped(dropout: Option<Dropout>, key: u32, source: u32, alpha: &[f32], out: &mut [f32; MAX_HEADS]) {
    let heads = alpha.len();
    match dropout {
        None => out[..heads].copy_from_slice(alpha),
        Some(dropout) => {
            let element = source.wrapping_mul(heads as u32);
            for h in 0..heads {
                out[h] = alpha[h] * dropout.factor(key, element.wrapping_add(h as u32));
            }
        }
    }
}

/// Adds the neighbours weighted by the dropped coefficients.
#[inline(always)]
fn weighted_sum<V: Vectors>(
    attend: &Attend<'_>,
    heads: usize,
    dim: usize,
    row: u32,
    sources: &[u32],
    alpha: &[f32],
    out: &mut [f32],
) {
    let stride = heads * dim;
    let key = attend.dropout.map_or(0, |dropout| dropout.row(row));
    let mut factors = [0f32; MAX_HEADS];
    if heads == 8 && dim == 8 {
        let mut acc = [[0f32; 8]; 8];
        for (alpha, &source) in alpha.chunks_exact(8).zip(sources) {
            dropped(attend.dropout, key, source, alpha, &mut factors);
            let x = &attend.x[source as usize * 64..][..64];
            for h in 0..8 {
                axpy::<V>(factors[h], &x[8 * h..8 * h + 8], &mut acc[h]);
            }
        }
        for h in 0..8 {
            out[8 * h..8 * h + 8].copy_from_slice(&acc[h]);
        }
        return;
    }
    for (alpha, &source) in alpha.chunks_exact(heads).zip(sources) {
        dropped(attend.dropout, key, source, alpha, &mut factors);
        let x = &attend.x[source as usize * stride..][..stride];
        for h in 0..heads {
            add_scaled::<V>(factors[h], &x[h * dim..(h + 1) * dim], &mut out[h * dim..(h + 1) * dim]);
        }
    }
}

/// `out += a * x`.
#[inline(always)]
pub(crate) fn add_scaled<V: Vectors>(a: f32, x: &[f32], out: &mut [f32]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = V::fma(a, *x, *out);
    }
}

/// Backward, first pass, per target. `gradient` is that of the sums that [`Attend`] finished. In: `alpha` as [`Attend`]
/// left it. Out: `alpha` after dropout; `d_scores`, the gradient of each edge's score before the leaky rectifier; and in
/// `d_target` (rows of the set, `heads` a node) its sum over the edges of a target. O(edges * stride).
pub fn backward_targets(
    attend: Attend<'_>,
    set: &RowSet,
    gradient: &[f32],
    alpha: &mut [f32],
    d_scores: &mut [f32],
    d_target: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let heads = attend.shape.heads;
    let alphas = attend.edges.split(set, alpha, heads);
    let d_parts = attend.edges.split(set, d_scores, heads);
    let mut parts: Vec<_> = alphas.into_iter().zip(d_parts).collect();
    for_each_block_with(set, d_target, heads, &mut parts, monitor, |rows, first, chunk, part| {
        let ((first_edge, alpha), (_, d_scores)) = part;
        let first_edge = *first_edge;
        simd::run_wide(TargetRows { attend, rows, first, gradient, first_edge, alpha, d_scores, d_target: chunk });
    })
}

struct TargetRows<'a> {
    attend: Attend<'a>,
    rows: &'a [u32],
    first: usize,
    gradient: &'a [f32],
    first_edge: usize,
    alpha: &'a mut [f32],
    d_scores: &'a mut [f32],
    d_target: &'a mut [f32],
}

impl Body for TargetRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { attend, rows, first, gradient, first_edge, alpha, d_scores, d_target } = self;
        let slope = attend.shape.slope;
        specialise!(attend.shape, heads, dim, {
            let stride = heads * dim;
            for &row in rows {
                let edges = attend.edges.row(row);
                let sources = &attend.edges.sources[edges.clone()];
                let range = (edges.start - first_edge) * heads..(edges.end - first_edge) * heads;
                let (alpha, d_scores) = (&mut alpha[range.clone()], &mut d_scores[range]);
                let gradient = &gradient[row as usize * stride..][..stride];
                let target = &attend.scores[row as usize * 2 * heads + heads..][..heads];
                let key = attend.dropout.map_or(0, |dropout| dropout.row(row));

                // The gradient of each coefficient, and its mean under the coefficients.
                let mut mean = [0f32; MAX_HEADS];
                let edge_lists = alpha.chunks_exact_mut(heads).zip(d_scores.chunks_exact_mut(heads)).zip(sources);
                for ((alpha, d), &source) in edge_lists {
                    let x = &attend.x[source as usize * stride..][..stride];
                    for h in 0..heads {
                        d[h] = dot::<V>(&gradient[h * dim..(h + 1) * dim], &x[h * dim..(h + 1) * dim]);
                    }
                    if let Some(dropout) = attend.dropout {
                        let element = source.wrapping_mul(heads as u32);
                        for (h, d) in d.iter_mut().enumerate() {
                            *d *= dropout.factor(key, element.wrapping_add(h as u32));
                        }
                    }
                    for h in 0..heads {
                        mean[h] = V::fma(alpha[h], d[h], mean[h]);
                    }
                }
                // Through the softmax and the leaky rectifier.
                let mut sum = [0f32; MAX_HEADS];
                let mut factors = [0f32; MAX_HEADS];
                let edge_lists = alpha.chunks_exact_mut(heads).zip(d_scores.chunks_exact_mut(heads)).zip(sources);
                for ((alpha, d), &source) in edge_lists {
                    let source_scores = &attend.scores[source as usize * 2 * heads..][..heads];
                    for h in 0..heads {
                        let side = if source_scores[h] + target[h] > 0.0 { 1.0 } else { slope };
                        d[h] = alpha[h] * (d[h] - mean[h]) * side;
                        sum[h] += d[h];
                    }
                    dropped(attend.dropout, key, source, alpha, &mut factors);
                    alpha.copy_from_slice(&factors[..heads]);
                }
                d_target[(row as usize - first) * heads..][..heads].copy_from_slice(&sum[..heads]);
            }
        });
    }
}

/// Backward, second pass, per source: the gradient of `x`, to which the scores' gradients add through the attention
/// vectors; and the sum of an edge's score gradients over the edges of a source, `heads` a node, in `d_source`. `alpha`
/// and `d_scores` as [`backward_targets`] left them; `d_target` holds zeros for nodes that are no targets.
/// O(edges * stride).
#[derive(Debug, Clone, Copy)]
pub struct BackwardSources<'a> {
    /// Heads and widths.
    pub shape: AttentionShape,
    /// The edges by source.
    pub edges: Outgoing<'a>,
    /// The gradient of the sums.
    pub gradient: &'a [f32],
    /// The coefficients after dropout.
    pub alpha: &'a [f32],
    /// The gradients of the edges' scores.
    pub d_scores: &'a [f32],
    /// Their sums over the edges of a target.
    pub d_target: &'a [f32],
    /// The attention vector of the sources.
    pub source: &'a [f32],
    /// The attention vector of the targets.
    pub target: &'a [f32],
    /// Whether the gradient of `x` is added to.
    pub add: bool,
}

impl BackwardSources<'_> {
    /// Computes the rows of a set; one task a block writes the block's rows of `d_x` and of `d_source`.
    pub fn run(
        self,
        set: &RowSet,
        d_x: &mut [f32],
        d_source: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let heads = self.shape.heads;
        let mut parts: Vec<&mut [f32]> = d_source.chunks_mut(set.span() * heads).collect();
        for_each_block_with(set, d_x, self.shape.stride(), &mut parts, monitor, |rows, first, chunk, part| {
            simd::run_wide(SourceRows { backward: self, rows, first, d_x: chunk, d_source: part });
        })
    }
}

struct SourceRows<'a> {
    backward: BackwardSources<'a>,
    rows: &'a [u32],
    first: usize,
    d_x: &'a mut [f32],
    d_source: &'a mut [f32],
}

impl Body for SourceRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { backward: b, rows, first, d_x, d_source } = self;
        specialise!(b.shape, heads, dim, {
            let stride = heads * dim;
            for &row in rows {
                let range = b.edges.offsets[row as usize]..b.edges.offsets[row as usize + 1];
                let d_x = &mut d_x[(row as usize - first) * stride..][..stride];
                let mut sum = [0f32; MAX_HEADS];
                if heads == 8 && dim == 8 {
                    let mut acc = [[0f32; 8]; 8];
                    if b.add {
                        acc.iter_mut().zip(d_x.chunks_exact(8)).for_each(|(acc, d)| acc.copy_from_slice(d));
                    }
                    for (&target, &edge) in b.edges.targets[range.clone()].iter().zip(&b.edges.edges[range]) {
                        let alpha = &b.alpha[edge as usize * 8..][..8];
                        let d = &b.d_scores[edge as usize * 8..][..8];
                        let gradient = &b.gradient[target as usize * 64..][..64];
                        for h in 0..8 {
                            sum[h] += d[h];
                            axpy::<V>(alpha[h], &gradient[8 * h..8 * h + 8], &mut acc[h]);
                        }
                    }
                    for h in 0..8 {
                        d_x[8 * h..8 * h + 8].copy_from_slice(&acc[h]);
                    }
                } else {
                    if !b.add {
                        d_x.fill(0.0);
                    }
                    for (&target, &edge) in b.edges.targets[range.clone()].iter().zip(&b.edges.edges[range]) {
                        let alpha = &b.alpha[edge as usize * heads..][..heads];
                        let d = &b.d_scores[edge as usize * heads..][..heads];
                        let gradient = &b.gradient[target as usize * stride..][..stride];
                        for h in 0..heads {
                            sum[h] += d[h];
                            let range = h * dim..(h + 1) * dim;
                            add_scaled::<V>(alpha[h], &gradient[range.clone()], &mut d_x[range]);
                        }
                    }
                }
                let d_target = &b.d_target[row as usize * heads..][..heads];
                for h in 0..heads {
                    let range = h * dim..(h + 1) * dim;
                    add_scaled::<V>(sum[h], &b.source[range.clone()], &mut d_x[range.clone()]);
                    add_scaled::<V>(d_target[h], &b.target[range.clone()], &mut d_x[range]);
                }
                d_source[(row as usize - first) * heads..][..heads].copy_from_slice(&sum[..heads]);
            }
        });
    }
}

/// The gradients of the two attention vectors, sources then targets, `stride` values each: sums over the nodes of a set
/// of `d_source * x` and `d_target * x`. `partials` has room for `n_blocks * 2 * stride`.
#[expect(clippy::too_many_arguments, reason = "two gradients and their operands")]
pub fn vector_gradients(
    set: &RowSet,
    shape: AttentionShape,
    x: &[f32],
    d_source: &[f32],
    d_target: &[f32],
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Sums<'a>(&'a [u32], AttentionShape, &'a [f32], &'a [f32], &'a [f32], &'a mut [f32]);
    impl Body for Sums<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, shape, x, d_source, d_target, out) = self;
            specialise!(shape, heads, dim, {
                let stride = heads * dim;
                let (source, target) = out.split_at_mut(stride);
                for &row in rows {
                    let x = &x[row as usize * stride..][..stride];
                    let d_source = &d_source[row as usize * heads..][..heads];
                    let d_target = &d_target[row as usize * heads..][..heads];
                    for h in 0..heads {
                        let range = h * dim..(h + 1) * dim;
                        add_scaled::<V>(d_source[h], &x[range.clone()], &mut source[range.clone()]);
                        add_scaled::<V>(d_target[h], &x[range.clone()], &mut target[range]);
                    }
                }
            });
        }
    }
    sum_blocks(set, 2 * shape.stride(), partials, out, monitor, |rows, partial| {
        simd::run_wide(Sums(rows, shape, x, d_source, d_target, partial));
    })
}
