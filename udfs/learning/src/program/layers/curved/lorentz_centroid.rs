//! Centroids on the hyperboloid (Chen et al. 2022, Eq. 6).

use candle_core::{D, Result, Tensor};

use super::lorentz_coordinates::parts;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::{inner, lorentz, square};

/// Sums of points put back on the hyperboloid: a centroid (Eq. 6).
pub(super) fn centroid(sum: &Tensor) -> Result<Tensor> {
    let (time, rest) = parts(sum)?;
    let rest = rest.broadcast_div(&(time.sqr()? - square(&rest)?)?.maximum(LEAST_SQUARE)?.sqrt()?)?;
    let one = Tensor::ones((1, 1), sum.dtype(), sum.device())?;
    Tensor::cat(&[lorentz::time(&rest, &one)?, rest], D::Minus1)
}

/// The centroid as a layer.
#[derive(Debug)]
pub(crate) struct LorentzCentroid;

impl Rowwise for LorentzCentroid {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        centroid(&x[0])
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// The least `-<s, s>` of a sum s that is divided by its root.
const LEAST_SQUARE: f64 = 1e-8;

impl RowKernel for LorentzCentroid {
    fn values(&self, n: usize, x: &[f64], _: &[Vec<f64>], y: &mut [f64]) {
        let width = x.len() / n.max(1);
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let square = inner(&x[1..], &x[1..]);
            let below = (x[0] * x[0] - square).max(LEAST_SQUARE);
            y[0] = (square / below + 1.0).sqrt();
            let root = below.sqrt();
            y[1..].iter_mut().zip(&x[1..]).for_each(|(y, x)| *y = x / root);
        }
    }

    fn gradients(&self, n: usize, x: &[f64], _: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], _: &mut [Vec<f64>]) {
        let width = x.len() / n.max(1);
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let square = inner(&x[1..], &x[1..]);
            let minkowski = x[0] * x[0] - square;
            let below = minkowski.max(LEAST_SQUARE);
            let (root, time) = (below.sqrt(), (square / below + 1.0).sqrt());
            // By u = x / root: the gradient of u, and from it that of `below`.
            let d_time = d_y[0] / (time * root);
            let d_below = match minkowski > LEAST_SQUARE {
                true => -(inner(&d_y[1..], &x[1..]) / root + d_time * square / root) / (2.0 * below),
                false => 0.0,
            };
            d_x[0] += 2.0 * d_below * x[0];
            let rest = d_x[1..].iter_mut().zip(&d_y[1..]).zip(&x[1..]);
            rest.for_each(|((d_x, d_y), x)| *d_x += (d_y + d_time * x) / root - 2.0 * d_below * x);
        }
    }
}
