//! Bias, activation and dropout on their own: where they cannot be fused into the layer before.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use super::add_rows;
use crate::kernels::elementwise::finish_rows;

/// `finish(x)`.
#[derive(Debug)]
pub struct Elementwise;

impl Layer for Elementwise {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        Ok(tensors.inputs[0].clone())
    }

    fn finishes(&self) -> bool {
        true
    }

    fn is_elementwise(&self) -> bool {
        true
    }

    fn rereads_inputs(&self) -> bool {
        false
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        finish_rows(pass.rows(), pass.input(0), pass.width(), pass.finish(), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        add_rows(pass, 0, 1.0, d_out)
    }
}
