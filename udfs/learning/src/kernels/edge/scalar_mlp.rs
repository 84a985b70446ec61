//! A small network of one number an edge.

use bonnet_graph::Stopped;

use super::{EdgeArgs, Incoming, for_each_edge_block};
use crate::kernels::exp::exp;
use crate::kernels::parallel::sum_blocks;
use crate::kernels::simd::{self, Body, Vectors};

/// `f(x) = shift + sum_c out[c] silu(w[0, c] x + w[1, c] x^2 + bias[c])` with `silu(z) = z / (1 + e^-z)`.
#[derive(Debug, Clone, Copy)]
pub struct ScalarMlp<'a> {
    /// `2 x width`, row-major; `width` is a multiple of 8.
    pub weights: &'a [f32],
    /// `width` values.
    pub bias: &'a [f32],
    /// `width` values.
    pub out: &'a [f32],
    /// Added at the end.
    pub shift: f32,
}

impl ScalarMlp<'_> {
    /// The length of the gradient that [`ScalarMlp::gradient`] gives: weights, bias, out and, padded to 8, shift.
    pub fn gradient_len(width: usize) -> usize {
        4 * width + 8
    }

    /// `f` of the number of every edge into the rows of a set. O(edges * width).
    pub fn values(self, args: EdgeArgs<'_, Incoming<'_>>, x: &[f32], out: &mut [f32]) -> Result<(), Stopped> {
        let EdgeArgs { set, edges, monitor } = args;
        for_each_edge_block(set, edges, out, 1, monitor, |rows, first_edge, out| {
            simd::run_wide(Forward { mlp: self, rows, edges, x, first_edge, out });
        })
    }

    /// From the gradients `d` of the values to those of the parameters: weights, bias, out, shift, one after the other.
    /// `partials` has room for `n_blocks * gradient_len`. O(edges * width).
    pub fn gradient(
        self,
        args: EdgeArgs<'_, Incoming<'_>>,
        x: &[f32],
        d: &[f32],
        partials: &mut [f32],
        out: &mut [f32],
    ) -> Result<(), Stopped> {
        let EdgeArgs { set, edges, monitor } = args;
        let len = Self::gradient_len(self.bias.len());
        sum_blocks(set, len, partials, out, monitor, |rows, partial| {
            simd::run_wide(Backward { mlp: self, rows, edges, x, d, partial });
        })
    }

    /// The input of a hidden unit, and its logistic function.
    #[inline(always)]
    fn unit<V: Vectors>(&self, x: f32, c: usize) -> (f32, f32) {
        let z = V::fma(self.weights[self.bias.len() + c], x * x, V::fma(self.weights[c], x, self.bias[c]));
        (z, 1.0 / (1.0 + exp::<V>(-z)))
    }
}

struct Forward<'a> {
    mlp: ScalarMlp<'a>,
    rows: &'a [u32],
    edges: Incoming<'a>,
    x: &'a [f32],
    first_edge: usize,
    out: &'a mut [f32],
}

impl Body for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { mlp, rows, edges, x, first_edge, out } = self;
        let width = mlp.bias.len();
        for &row in rows {
            let range = edges.row(row);
            for (&x, out) in x[range.clone()].iter().zip(&mut out[range.start - first_edge..range.end - first_edge]) {
                let mut lanes = [0f32; 8];
                for at in (0..width).step_by(8) {
                    for (l, lane) in lanes.iter_mut().enumerate() {
                        let (z, logistic) = mlp.unit::<V>(x, at + l);
                        *lane = V::fma(mlp.out[at + l], z * logistic, *lane);
                    }
                }
                let four = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
                *out = mlp.shift + ((four[0] + four[2]) + (four[1] + four[3]));
            }
        }
    }
}

struct Backward<'a> {
    mlp: ScalarMlp<'a>,
    rows: &'a [u32],
    edges: Incoming<'a>,
    x: &'a [f32],
    d: &'a [f32],
    partial: &'a mut [f32],
}

impl Body for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { mlp, rows, edges, x, d, partial } = self;
        let width = mlp.bias.len();
        let (linear, rest) = partial.split_at_mut(width);
        let (square, rest) = rest.split_at_mut(width);
        let (bias, rest) = rest.split_at_mut(width);
        let (out, shift) = rest.split_at_mut(width);
        for &row in rows {
            let range = edges.row(row);
            for (&x, &d) in x[range.clone()].iter().zip(&d[range]) {
                shift[0] += d;
                for c in 0..width {
                    let (z, logistic) = mlp.unit::<V>(x, c);
                    out[c] = V::fma(d, z * logistic, out[c]);
                    // silu' = logistic (1 + z (1 - logistic)).
                    let d_z = d * mlp.out[c] * logistic * V::fma(z, 1.0 - logistic, 1.0);
                    bias[c] += d_z;
                    linear[c] = V::fma(d_z, x, linear[c]);
                    square[c] = V::fma(d_z, x * x, square[c]);
                }
            }
        }
    }
}
