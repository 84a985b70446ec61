//! The sinusoidal code of a number.

use candle_core::{D, Result, Tensor};

use super::expression::Rowwise;
use super::row_kernel::RowKernel;

/// `sqrt(1 / d) [sin w_i k, cos w_i k]` of a number k, with the frequencies w_i: d columns.
#[derive(Debug)]
pub(crate) struct SinusoidalCode;

impl Rowwise for SinusoidalCode {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let angles = x[0].broadcast_mul(&w[0])?;
        let size = (1.0 / (2 * w[0].dim(1)?) as f64).sqrt();
        Tensor::cat(&[angles.sin()?, angles.cos()?], D::Minus1)? * size
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

impl RowKernel for SinusoidalCode {
    fn values(&self, _: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let count = read[0].len();
        let size = (1.0 / (2 * count) as f64).sqrt();
        for (k, y) in x.iter().zip(y.chunks_exact_mut(2 * count)) {
            for (at, omega) in read[0].iter().enumerate() {
                let (sin, cos) = (k * omega).sin_cos();
                (y[at], y[count + at]) = (size * sin, size * cos);
            }
        }
    }

    fn gradients(&self, _: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let count = read[0].len();
        let size = (1.0 / (2 * count) as f64).sqrt();
        for ((k, d_k), d_y) in x.iter().zip(d_x).zip(d_y.chunks_exact(2 * count)) {
            for (at, omega) in read[0].iter().enumerate() {
                let (sin, cos) = (k * omega).sin_cos();
                let d = size * (d_y[at] * cos - d_y[count + at] * sin);
                *d_k += d * omega;
                d_read[0][at] += d * k;
            }
        }
    }
}
