//! Columns side by side.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use crate::kernels::parallel::for_each_block;

/// `[x_0 | x_1 | ...]`.
#[derive(Debug)]
pub struct Concat;

impl Layer for Concat {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        Tensor::cat(tensors.inputs, 1)
    }

    fn rereads_inputs(&self) -> bool {
        false
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let width = pass.width();
        let inputs: Vec<_> =
            (0..pass.n_inputs()).map(|input| (pass.input(input), pass.input_axis(input).stride())).collect();
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            let mut at = 0;
            for &(x, stride) in &inputs {
                for &row in rows {
                    let to = (row as usize - first) * width + at;
                    chunk[to..to + stride].copy_from_slice(&x[row as usize * stride..][..stride]);
                }
                at += stride;
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (width, mut at) = (f.width(), 0);
        for input in 0..f.n_inputs() {
            let (stride, from) = (f.input_axis(input).stride(), at);
            at += stride;
            let Some(mut d_x) = pass.gradient(input) else { continue };
            let add = d_x.add;
            for_each_block(f.rows(), &mut d_x.values, stride, f.monitor, |rows, first, chunk| {
                for &row in rows {
                    let part = &d_out[row as usize * width + from..][..stride];
                    let to = &mut chunk[(row as usize - first) * stride..][..stride];
                    if add {
                        to.iter_mut().zip(part).for_each(|(to, part)| *to += part);
                    } else {
                        to.copy_from_slice(part);
                    }
                }
            })?;
        }
        Ok(())
    }
}
