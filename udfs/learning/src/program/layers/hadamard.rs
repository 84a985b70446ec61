//! The product of two slots element by element.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use super::map_rows;
use crate::kernels::parallel::for_each_block;

/// `x * y`.
#[derive(Debug)]
pub struct Hadamard;

impl Layer for Hadamard {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        &tensors.inputs[0] * &tensors.inputs[1]
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, y, width) = (pass.input(0), pass.input(1), pass.width());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let from = row as usize * width;
                let out = &mut chunk[from - first * width..][..width];
                for ((out, x), y) in out.iter_mut().zip(&x[from..]).zip(&y[from..]) {
                    *out = x * y;
                }
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        for (input, other) in [(0, f.input(1)), (1, f.input(0))] {
            map_rows(pass, input, |row, out| {
                let from = row as usize * out.len();
                for ((out, d), y) in out.iter_mut().zip(&d_out[from..]).zip(&other[from..]) {
                    *out += d * y;
                }
            })?;
        }
        Ok(())
    }
}
