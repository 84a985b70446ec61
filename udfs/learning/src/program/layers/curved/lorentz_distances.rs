//! Distances from points of the hyperboloid to learned ones.

use candle_core::{Result, Tensor};

use super::lorentz_coordinates::parts;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::{inner, lorentz};

/// `2 + 2 <x, p_c>`: the negative squared Lorentz distance to the point of each class, of so many dimensions.
#[derive(Debug)]
pub(crate) struct LorentzDistances(pub usize);

impl Rowwise for LorentzDistances {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let ((time, rest), p) = (parts(&x[0])?, &w[0]);
        let one = Tensor::ones((1, 1), p.dtype(), p.device())?;
        let times = time.matmul(&lorentz::time(p, &one)?.t()?.contiguous()?)?;
        (rest.matmul(&p.t()?.contiguous()?)? - times)?.affine(2.0, 2.0)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// Rows read the points of the classes, time first.
impl RowKernel for LorentzDistances {
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let dimension = self.0;
        let point = |p: &[f64]| -> Vec<f64> { [&[(inner(p, p) + 1.0).sqrt()], p].concat() };
        vec![w[0].chunks_exact(dimension).flat_map(point).collect()]
    }

    fn pull(&self, w: &[Vec<f64>], read: &[Vec<f64>], d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let (dimension, width) = (self.0, self.0 + 1);
        let points = w[0].chunks_exact(dimension).zip(read[0].chunks_exact(width)).zip(d_read[0].chunks_exact(width));
        vec![points.flat_map(|((p, q), d)| p.iter().zip(&d[1..]).map(move |(p, g)| g + d[0] * p / q[0])).collect()]
    }

    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let (width, classes) = (self.0 + 1, y.len() / n.max(1));
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(classes)) {
            for (y, p) in y.iter_mut().zip(read[0].chunks_exact(width)) {
                *y = 2.0 + 2.0 * (inner(&x[1..], &p[1..]) - x[0] * p[0]);
            }
        }
    }

    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (width, classes) = (self.0 + 1, d_y.len() / n.max(1));
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(classes)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let points = read[0].chunks_exact(width).zip(d_read[0].chunks_exact_mut(width));
            for (d, (p, d_p)) in d_y.iter().zip(points) {
                let sign = |at: usize| if at == 0 { -2.0 * d } else { 2.0 * d };
                for at in 0..width {
                    d_x[at] += sign(at) * p[at];
                    d_p[at] += sign(at) * x[at];
                }
            }
        }
    }
}
