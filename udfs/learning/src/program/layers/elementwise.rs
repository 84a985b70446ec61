//! Bias, activation and dropout on their own: where they cannot be fused into the layer before.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Lower, Sink, Tensors};
use super::add_rows;
use crate::device::DeviceError;
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

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        finish_rows(pass.rows(), pass.input(0), pass.width(), pass.finish(), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        add_rows(pass, 0, 1.0, d_out)
    }

    fn lower_forward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let (rows, x, width, tail) = (lower.rows(), lower.input(0), lower.width(), lower.finish());
        let sink = Sink { buffer: lower.output(), add: false };
        lower.add_scaled(rows, x, (None, 1.0), width, tail, sink);
        Ok(())
    }

    fn lower_backward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        lower.pass_on(0, (None, 1.0))
    }
}
