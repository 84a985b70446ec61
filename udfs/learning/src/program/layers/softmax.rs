//! The softmax of each row.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use super::map_rows;
use crate::kernels::exp::exp;
use crate::kernels::parallel::for_each_block;
use crate::kernels::simd::Plain;

/// `e^x_c / sum over the real columns of e^x_d`.
#[derive(Debug)]
pub struct RowSoftmax;

impl Layer for RowSoftmax {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        candle_nn::ops::softmax(&tensors.inputs[0], 1)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, width, axis) = (pass.input(0), pass.width(), pass.axis());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let x = &x[row as usize * width..][..width];
                let out = &mut chunk[(row as usize - first) * width..][..width];
                let max = axis.positions().map(|c| x[c]).fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
                let mut sum = 0.0;
                for c in axis.positions() {
                    out[c] = exp::<Plain>(x[c] - max);
                    sum += out[c];
                }
                axis.positions().for_each(|c| out[c] /= sum);
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let y = pass.forward.output();
        map_rows(pass, 0, |row, out| {
            let (from, width) = (row as usize * out.len(), out.len());
            let (y, d_out) = (&y[from..][..width], &d_out[from..][..width]);
            let mean: f32 = y.iter().zip(d_out).map(|(y, d)| y * d).sum();
            for ((out, y), d) in out.iter_mut().zip(y).zip(d_out) {
                *out += y * (d - mean);
            }
        })
    }
}
