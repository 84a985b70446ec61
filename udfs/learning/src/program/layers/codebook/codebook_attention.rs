//! Attention of every row to a few centroids, each of which stands for as many rows as its size says (Kong et al. 2023, Eq. 6).

use bonnet_graph::Stopped;
use candle_core::{D, Tensor};

use crate::ground::Axis;
use crate::ground::random::Dropout;
use crate::kernels::RowSet;
use crate::kernels::combine::dot;
use crate::kernels::edge::HeadShape;
use crate::kernels::exp::exp;
use crate::kernels::parallel::{for_each_block, for_each_block_with};
use crate::kernels::simd::{self, Body, Vectors};
use crate::ops;
use crate::program::reach::needs_itself;
use crate::program::{Backward, Builder, Forward, Layer, Mask, Parameter, Scratch, Shapes, Slot, Tensors};

/// The inputs of the layer; the sizes are its parameter.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

/// The smallest size that counts: the logarithm of none is no number.
const LEAST: f32 = f32::MIN_POSITIVE;

/// `out_i = sum_c dropout(alpha_ic) v_c` with `alpha_i = softmax_c (<q_i, k_c> / sqrt(d) + ln m_c)` head by head. Coefficients are
/// kept nowhere: the backward pass computes them anew.
#[derive(Debug)]
struct CodebookAttention {
    shape: HeadShape,
    /// The number of centroids.
    count: usize,
    scale: f32,
    dropout: Option<Mask>,
}

impl Builder<'_, '_> {
    /// Attention of the rows of the queries to the rows of keys and values, which are those of centroids with the given sizes: all
    /// have the same columns, `heads` groups. In training a coefficient is dropped with probability `p`.
    ///
    /// O(rows * centroids * columns); memory for two rows a centroid and block of rows.
    pub fn codebook_attention(
        &mut self,
        [query, key, value]: [Slot; 3],
        sizes: Parameter,
        heads: usize,
        p: f64,
    ) -> Slot {
        let (axis, space) = (self.axis(query), self.space(query));
        debug_assert!(self.axis(key) == axis && self.axis(value) == axis);
        let layer = CodebookAttention {
            shape: HeadShape { heads, dim: axis.stride() / heads },
            count: self.space(key).rows(),
            scale: (1.0 / (axis.len() as f64 / heads as f64).sqrt()) as f32,
            dropout: self.mask(p),
        };
        self.push(layer, &[query, key, value], &[sizes], space, axis)
    }
}

/// What both passes read.
#[derive(Clone, Copy)]
struct Operands<'a> {
    shape: HeadShape,
    scale: f32,
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    /// The logarithms of the sizes.
    logs: &'a [f32],
    mask: Option<Dropout>,
}

impl Operands<'_> {
    /// The coefficients of a row and head.
    #[inline(always)]
    fn coefficients<V: Vectors>(&self, row: usize, head: usize, alpha: &mut [f32]) {
        let (stride, from, dim) = (self.shape.stride(), head * self.shape.dim, self.shape.dim);
        let q = &self.q[row * stride + from..][..dim];
        let mut max = f32::NEG_INFINITY;
        for ((alpha, k), log) in alpha.iter_mut().zip(self.k.chunks_exact(stride)).zip(self.logs) {
            *alpha = V::fma(self.scale, dot::<V>(q, &k[from..][..dim]), *log);
            max = if *alpha > max { *alpha } else { max };
        }
        let mut sum = 0.0;
        for alpha in &mut *alpha {
            *alpha = exp::<V>(*alpha - max);
            sum += *alpha;
        }
        alpha.iter_mut().for_each(|alpha| *alpha /= sum);
    }

    /// The factor of dropout of a coefficient.
    #[inline(always)]
    fn factor(&self, row_key: u32, head: usize, centroid: usize) -> f32 {
        self.mask.map_or(1.0, |mask| mask.factor(row_key, (head * self.logs.len() + centroid) as u32))
    }
}

struct Attend<'a> {
    rows: &'a [u32],
    first: usize,
    operands: Operands<'a>,
    out: &'a mut [f32],
}

impl Body for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, operands, out } = self;
        let HeadShape { heads, dim } = operands.shape;
        let stride = heads * dim;
        let mut alpha = vec![0f32; operands.logs.len()];
        for &row in rows {
            let key = operands.mask.map_or(0, |mask| mask.row(row));
            for head in 0..heads {
                operands.coefficients::<V>(row as usize, head, &mut alpha);
                let out = &mut out[(row as usize - first) * stride + head * dim..][..dim];
                out.fill(0.0);
                for (c, v) in operands.v.chunks_exact(stride).enumerate() {
                    let weight = alpha[c] * operands.factor(key, head, c);
                    out.iter_mut().zip(&v[head * dim..]).for_each(|(out, v)| *out = V::fma(weight, *v, *out));
                }
            }
        }
    }
}

struct AttendBack<'a> {
    rows: &'a [u32],
    first: usize,
    operands: Operands<'a>,
    d_out: &'a [f32],
    /// Whether the gradient of the queries is added to.
    add: bool,
    d_q: &'a mut [f32],
    /// The gradients of keys, then of values.
    sums: &'a mut [f32],
}

impl Body for AttendBack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, operands, d_out, add, d_q, sums } = self;
        let HeadShape { heads, dim } = operands.shape;
        let (stride, count) = (heads * dim, operands.logs.len());
        let (d_k, d_v) = sums.split_at_mut(count * stride);
        let (mut alpha, mut d_alpha) = (vec![0f32; count], vec![0f32; count]);
        for &row in rows {
            let key = operands.mask.map_or(0, |mask| mask.row(row));
            let d_q = &mut d_q[(row as usize - first) * stride..][..stride];
            if !add {
                d_q.fill(0.0);
            }
            for head in 0..heads {
                operands.coefficients::<V>(row as usize, head, &mut alpha);
                let own = head * dim..(head + 1) * dim;
                let at = row as usize * stride + head * dim;
                let (d_out, q) = (&d_out[at..][..dim], &operands.q[at..][..dim]);
                let mut mean = 0.0;
                for (c, v) in operands.v.chunks_exact(stride).enumerate() {
                    let factor = operands.factor(key, head, c);
                    d_alpha[c] = factor * dot::<V>(d_out, &v[own.clone()]);
                    mean += alpha[c] * d_alpha[c];
                    let weight = alpha[c] * factor;
                    let d_v = &mut d_v[c * stride..][own.clone()];
                    d_v.iter_mut().zip(d_out).for_each(|(d_v, d)| *d_v = V::fma(weight, *d, *d_v));
                }
                for (c, k) in operands.k.chunks_exact(stride).enumerate() {
                    let d_score = operands.scale * alpha[c] * (d_alpha[c] - mean);
                    let d_k = &mut d_k[c * stride..][own.clone()];
                    d_k.iter_mut().zip(q).for_each(|(d_k, q)| *d_k = V::fma(d_score, *q, *d_k));
                    let d_q = &mut d_q[own.clone()];
                    d_q.iter_mut().zip(&k[own.clone()]).for_each(|(d_q, k)| *d_q = V::fma(d_score, *k, *d_q));
                }
            }
        }
    }
}

impl CodebookAttention {
    fn logs(pass: &Forward<'_>) -> Vec<f32> {
        pass.parameter(0).iter().map(|size| size.max(LEAST).ln()).collect()
    }

    fn operands<'a>(&self, pass: &Forward<'a>, logs: &'a [f32]) -> Operands<'a> {
        let [q, k, v] = [QUERY, KEY, VALUE].map(|input| pass.input(input));
        Operands { shape: self.shape, scale: self.scale, q, k, v, logs, mask: pass.mask(self.dropout) }
    }
}

impl Layer for CodebookAttention {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let [q, k, v] = [QUERY, KEY, VALUE].map(|input| &tensors.inputs[input]);
        let (heads, width) = (self.shape.heads, q.dim(1)? / self.shape.heads);
        let logs = tensors.parameters[0].detach().maximum(f64::from(LEAST))?.log()?;
        let of = |x: &Tensor, head: usize| x.narrow(1, head * width, width)?.contiguous();
        let mut alphas = Vec::with_capacity(heads);
        for head in 0..heads {
            let scores = (of(q, head)?.matmul(&of(k, head)?.t()?.contiguous()?)? * f64::from(self.scale))?;
            alphas.push(candle_nn::ops::softmax(&scores.broadcast_add(&logs)?, D::Minus1)?);
        }
        let alpha = Tensor::cat(&alphas, 1)?;
        let alpha = ops::dropout(&alpha, tensors.mask(self.dropout), Axis::exact(heads * self.count))?;
        let read = |head: usize| alpha.narrow(1, head * self.count, self.count)?.contiguous()?.matmul(&of(v, head)?);
        Tensor::cat(&(0..heads).map(read).collect::<candle_core::Result<Vec<_>>>()?, 1)
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            QUERY => needs_itself(rows, needed),
            _ => needed.fill(true),
        }
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * 2 * self.count * self.shape.stride(), transposed: 0 }
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let logs = Self::logs(pass);
        let operands = self.operands(pass, &logs);
        for_each_block(pass.rows(), out, self.shape.stride(), pass.monitor, |rows, first, out| {
            simd::run_wide(Attend { rows, first, operands, out });
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (f, stride) = (pass.forward, self.shape.stride());
        let logs = Self::logs(&f);
        let (operands, half) = (self.operands(&f, &logs), self.count * stride);
        let Some(mut d_q) = pass.gradient(QUERY) else { return Ok(()) };
        let (set, add, width) = (f.rows(), d_q.add, 2 * half);
        let (partials, _) = pass.scratch();
        let mut extras: Vec<&mut [f32]> = partials.chunks_mut(width).take(set.n_blocks()).collect();
        for_each_block_with(set, &mut d_q.values, stride, &mut extras, f.monitor, |rows, first, d_q, sums| {
            sums.fill(0.0);
            simd::run_wide(AttendBack { rows, first, operands, d_out, add, d_q, sums });
        })?;
        drop(d_q);
        for (input, from) in [(KEY, 0), (VALUE, half)] {
            let Some(mut gradient) = pass.gradient_everywhere(input) else { continue };
            if !gradient.add {
                gradient.values.fill(0.0);
            }
            let partials = pass.scratch().0.chunks(width).take(set.n_blocks());
            for (_, sums) in partials.enumerate().filter(|(block, _)| !set.block(*block).is_empty()) {
                gradient.values.iter_mut().zip(&sums[from..from + half]).for_each(|(sum, part)| *sum += part);
            }
        }
        Ok(())
    }
}
