//! Products with learnt weights.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, InputFeatures, Layer, Prepare, Prepared, Scratch, Shapes, Tensors};
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::Finish;

/// `x W`.
#[derive(Debug)]
pub struct Linear;

impl Layer for Linear {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        tensors.inputs[0].matmul(&tensors.parameters[0])
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let weights = shapes.parameter(0);
        Scratch { partials: shapes.blocks() * weights, transposed: weights }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (k, then) = (pass.input_axis(0).stride(), Then::Finish(pass.finish()));
        dense::product(
            pass.rows(),
            Left::new(pass.input(0), k),
            pass.parameter(0),
            pass.width(),
            then,
            out,
            pass.monitor,
        )
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (set, k, n) = (f.rows(), f.input_axis(0).stride(), f.width());
        pass.parameter_gradient(0, |out, partials, _| {
            dense::transposed_product(set, Left::new(f.input(0), k), d_out, n, partials, out, f.monitor)
        })?;
        let Some(mut d_x) = pass.gradient(0) else { return Ok(()) };
        let then = match d_x.add {
            true => Then::Add,
            false => pass.gate(0).map_or(Then::Finish(Finish::NOTHING), Then::Gate),
        };
        let (_, transposed) = pass.scratch();
        let (left, out) = (Left::new(d_out, n), &mut d_x.values);
        dense::product_by_transposed(set, left, f.parameter(0), k, transposed, then, out, f.monitor)
    }
}

/// `X W` for features, which get no gradient.
#[derive(Debug)]
pub struct FeatureLinear {
    /// X.
    pub features: InputFeatures,
}

impl Layer for FeatureLinear {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        tensors.feature_product(self.features, &tensors.parameters[0])
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.features(self.features)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let partials = shapes.features(self.features).partials(shapes.blocks(), shapes.output().axis.stride());
        Scratch { partials, transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (input, mask) = (pass.features(self.features), pass.mask(self.features.dropout));
        input.product(pass.rows(), pass.parameter(0), pass.width(), mask, pass.finish(), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (input, mask) = (f.features(self.features), f.mask(self.features.dropout));
        let transposed = match f.prepared() {
            Prepared::Features(transposed) => Some(&**transposed),
            _ => None,
        };
        pass.parameter_gradient(0, |out, partials, _| {
            input.gradient(f.rows(), transposed, d_out, f.width(), mask, partials, out, f.monitor)
        })
    }
}
