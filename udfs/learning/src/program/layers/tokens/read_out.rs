//! The attention that makes one row of a node's tokens (Chen, Gao, Li and He 2023, Eq. 8-9).

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::{Axis, Initial};
use crate::kernels::RowSet;
use crate::kernels::combine::dot;
use crate::kernels::exp::exp;
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::kernels::simd::{self, Body, Vectors};
use crate::program::{Backward, Builder, Forward, Layer, Scratch, Shapes, Slot, Space, Tensors};

/// `x_0 + sum over k >= 1 of softmax_k(<a, x_k>) x_k` over the tokens of a node.
#[derive(Debug)]
struct ReadOut {
    tokens: usize,
}

impl Builder<'_, '_> {
    /// `x_0 + sum over k >= 1 of softmax_k(<a, x_k>) x_k` with a learnt row `{name}`, over the `tokens` rows of each node, at
    /// least two.
    ///
    /// The paper's score is `<(a_0, a), (x_0, x_k)>`: what reads `x_0` is the same for every k, and the softmax does not
    /// see it.
    pub fn token_read_out(&mut self, x: Slot, name: impl Into<String>, tokens: usize, initial: Initial) -> Slot {
        let axis = self.axis(x);
        let weights = self.parameter(name, Axis::exact(1), axis, initial);
        let nodes = self.space(x).len() / tokens;
        self.push(ReadOut { tokens }, &[x], &[weights], Space::Rows(nodes), axis)
    }
}

/// The shares of the tokens behind the first, whose rows stand one after the other in `x`.
#[inline(always)]
fn shares<V: Vectors>(x: &[f32], a: &[f32], out: &mut [f32]) {
    let mut most = f32::NEG_INFINITY;
    for (share, x) in out.iter_mut().zip(x.chunks_exact(a.len()).skip(1)) {
        *share = dot::<V>(a, x);
        most = most.max(*share);
    }
    let mut sum = 0.0;
    for share in out.iter_mut() {
        *share = exp::<V>(*share - most);
        sum += *share;
    }
    out.iter_mut().for_each(|share| *share /= sum);
}

/// The rows of a node from its tokens.
struct Rows<'a> {
    rows: &'a [u32],
    first: usize,
    tokens: usize,
    x: &'a [f32],
    a: &'a [f32],
    out: &'a mut [f32],
}

impl Body for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, tokens, x, a, out } = self;
        let (width, mut weights) = (a.len(), vec![0.0; tokens - 1]);
        for &row in rows {
            let x = &x[row as usize * tokens * width..][..tokens * width];
            let out = &mut out[(row as usize - first) * width..][..width];
            shares::<V>(x, a, &mut weights);
            let (own, others) = x.split_at(width);
            out.copy_from_slice(own);
            for (weight, x) in weights.iter().zip(others.chunks_exact(width)) {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = V::fma(*weight, *x, *out));
            }
        }
    }
}

/// The slopes of the scores of a node: `share_k (<d, x_k> - mean)`.
#[inline(always)]
fn score_slopes<V: Vectors>(x: &[f32], weights: &[f32], d_out: &[f32], out: &mut [f32]) {
    let mut mean = 0.0;
    for ((slope, x), weight) in out.iter_mut().zip(x.chunks_exact(d_out.len()).skip(1)).zip(weights) {
        *slope = dot::<V>(d_out, x);
        mean += weight * *slope;
    }
    out.iter_mut().zip(weights).for_each(|(slope, weight)| *slope = weight * (*slope - mean));
}

/// Adds to the gradient of the learnt row.
struct OfWeights<'a> {
    rows: &'a [u32],
    tokens: usize,
    x: &'a [f32],
    a: &'a [f32],
    d_out: &'a [f32],
    sums: &'a mut [f32],
}

impl Body for OfWeights<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, tokens, x, a, d_out, sums } = self;
        let (width, mut weights, mut slopes) = (a.len(), vec![0.0; tokens - 1], vec![0.0; tokens - 1]);
        for &row in rows {
            let x = &x[row as usize * tokens * width..][..tokens * width];
            shares::<V>(x, a, &mut weights);
            score_slopes::<V>(x, &weights, &d_out[row as usize * width..][..width], &mut slopes);
            for (slope, x) in slopes.iter().zip(x.chunks_exact(width).skip(1)) {
                sums.iter_mut().zip(x).for_each(|(sum, x)| *sum = V::fma(*slope, *x, *sum));
            }
        }
    }
}

/// Adds to the gradients of the tokens.
struct OfTokens<'a> {
    rows: &'a [u32],
    first: usize,
    tokens: usize,
    x: &'a [f32],
    a: &'a [f32],
    d_out: &'a [f32],
    d_x: &'a mut [f32],
}

impl Body for OfTokens<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, tokens, x, a, d_out, d_x } = self;
        let (width, mut weights, mut slopes) = (a.len(), vec![0.0; tokens - 1], vec![0.0; tokens - 1]);
        for &row in rows {
            let x = &x[row as usize * tokens * width..][..tokens * width];
            let d_x = &mut d_x[(row as usize - first) * tokens * width..][..tokens * width];
            let d_out = &d_out[row as usize * width..][..width];
            shares::<V>(x, a, &mut weights);
            score_slopes::<V>(x, &weights, d_out, &mut slopes);
            let (own, others) = d_x.split_at_mut(width);
            own.iter_mut().zip(d_out).for_each(|(to, d)| *to += d);
            for ((to, weight), slope) in others.chunks_exact_mut(width).zip(&weights).zip(&slopes) {
                for ((to, d), a) in to.iter_mut().zip(d_out).zip(a) {
                    *to += V::fma(*weight, *d, slope * a);
                }
            }
        }
    }
}

impl Layer for ReadOut {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, tokens) = (&tensors.inputs[0], self.tokens);
        let (rows, width) = x.dims2()?;
        let scores = x.broadcast_mul(&tensors.parameters[0])?.sum_keepdim(1)?;
        let x = x.reshape((rows / tokens, tokens, width))?;
        let scores = scores.reshape((rows / tokens, tokens, 1))?.narrow(1, 1, tokens - 1)?;
        let apart = scores.broadcast_sub(&scores.max_keepdim(1)?.detach())?.exp()?;
        let shares = apart.broadcast_div(&apart.sum_keepdim(1)?)?;
        let others = x.narrow(1, 1, tokens - 1)?.broadcast_mul(&shares)?.sum(1)?;
        x.narrow(1, 0, 1)?.squeeze(1)? + others
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        for &row in rows.rows() {
            needed[row as usize * self.tokens..][..self.tokens].fill(true);
        }
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * shapes.output().axis.stride(), transposed: 0 }
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, a, tokens) = (pass.input(0), pass.parameter(0), self.tokens);
        for_each_block(pass.rows(), out, a.len(), pass.monitor, |rows, first, out| {
            simd::run_wide(Rows { rows, first, tokens, x, a, out });
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (f, tokens) = (pass.forward, self.tokens);
        let (x, a, width) = (f.input(0), f.parameter(0), f.width());
        pass.parameter_gradient(0, |out, partials, _| {
            sum_blocks(f.rows(), width, partials, out, f.monitor, |rows, sums| {
                simd::run_wide(OfWeights { rows, tokens, x, a, d_out, sums });
            })
        })?;
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        if !d_x.add {
            f.input_rows(0).rows().iter().for_each(|&row| d_x.values[row as usize * width..][..width].fill(0.0));
        }
        // The tokens of a node are a row as long as all of them.
        for_each_block(f.rows(), &mut d_x.values, tokens * width, f.monitor, |rows, first, d_x| {
            simd::run_wide(OfTokens { rows, first, tokens, x, a, d_out, d_x });
        })
    }
}
