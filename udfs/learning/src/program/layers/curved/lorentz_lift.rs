//! The Lorentz linear layer (Chen et al. 2022, Eq. 3) behind its affine map.

use candle_core::{D, Result, Tensor};

use super::lorentz_coordinates::parts;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::{inner, sigmoid, square};

/// The least time of a linear layer's output, which leaves its space coordinates a length.
const LEAST_TIME: f64 = 1.1;

/// A Lorentz linear layer behind its affine map y (Eq. 3): the time is `lambda sigmoid(y_0) + 1.1`, the space has the
/// direction of the rest of y and the length that puts the point on the hyperboloid.
#[derive(Debug)]
pub(crate) struct LorentzLift;

impl Rowwise for LorentzLift {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (first, rest) = parts(&x[0])?;
        let sigmoid = (first.neg()?.exp()? + 1.0)?.recip()?;
        let time = (sigmoid.broadcast_mul(&w[0].exp()?)? + LEAST_TIME)?;
        let length = ((time.sqr()? - 1.0)? / (square(&rest)? + 1e-15)?)?.sqrt()?;
        Tensor::cat(&[time, rest.broadcast_mul(&length)?], D::Minus1)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

impl RowKernel for LorentzLift {
    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let (width, scale) = (x.len() / n.max(1), read[0][0].exp());
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let time = sigmoid(x[0]) * scale + LEAST_TIME;
            let length = ((time * time - 1.0) / (inner(&x[1..], &x[1..]) + 1e-15)).sqrt();
            y[0] = time;
            y[1..].iter_mut().zip(&x[1..]).for_each(|(y, x)| *y = x * length);
        }
    }

    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (width, scale) = (x.len() / n.max(1), read[0][0].exp());
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let (share, below) = (sigmoid(x[0]), inner(&x[1..], &x[1..]) + 1e-15);
            let time = share * scale + LEAST_TIME;
            let length = ((time * time - 1.0) / below).sqrt();
            let d_length = inner(&d_y[1..], &x[1..]);
            let d_time = d_y[0] + d_length * time / (length * below);
            d_x[0] += d_time * scale * share * (1.0 - share);
            d_read[0][0] += d_time * scale * share;
            let along = d_length * length / below;
            let rest = d_x[1..].iter_mut().zip(&d_y[1..]).zip(&x[1..]);
            rest.for_each(|((d_x, d_y), x)| *d_x += length * d_y - along * x);
        }
    }
}
