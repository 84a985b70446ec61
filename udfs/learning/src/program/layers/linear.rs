//! Products with learnt weights.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, InputFeatures, Layer, Prepare, Prepared, Scratch, Shapes, Tensors};
use crate::data::Features;
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::Finish;
use crate::network::{Input, sparse_gradient};

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

    fn takes_runs(&self) -> bool {
        true
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (set, k, n) = (pass.rows(), pass.input_axis(0).stride(), pass.axis().stride());
        for strip in pass.strips() {
            let (x, then) = (Left::beside(pass.input(0), k, strip), Then::Finish(pass.finish_of(strip.run)));
            dense::product_beside(set, x, pass.parameter_of(strip.run, 0), n, then, strip, out, pass.monitor)?;
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (set, k, n) = (f.rows(), f.input_axis(0).stride(), f.axis().stride());
        for strip in f.strips() {
            let x = Left::beside(f.input(0), k, strip);
            pass.parameter_gradient_of(strip.run, 0, |out, partials, _| {
                dense::transposed_product_beside(set, x, d_out, n, strip, partials, out, f.monitor)
            })?;
        }
        let Some(mut d_x) = pass.gradient(0) else { return Ok(()) };
        let then = match d_x.add {
            true => Then::Add,
            false => pass.gate(0).map_or(Then::Finish(Finish::NOTHING), Then::Gate),
        };
        let (_, transposed) = pass.scratch();
        for strip in f.strips() {
            let (d_z, w, out) = (Left::beside(d_out, n, strip), f.parameter_of(strip.run, 0), &mut d_x.values);
            dense::product_by_transposed_beside(set, d_z, w, k, strip, transposed, then, out, f.monitor)?;
        }
        Ok(())
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

    fn takes_runs(&self) -> bool {
        true
    }

    fn reads_side_by_side(&self, features: &[Input]) -> bool {
        matches!(features[self.features.number].features(), Features::Sparse(_))
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (input, dropout, set) = (pass.features(self.features), self.features.dropout, pass.rows());
        if let Features::Dense { columns, values } = input.features() {
            for strip in pass.strips() {
                let x = Left { dropout: pass.mask_of(strip.run, dropout), ..Left::new(values, *columns) };
                let (w, then) = (pass.parameter_of(strip.run, 0), Then::Finish(pass.finish_of(strip.run)));
                dense::product_beside(set, x, w, pass.axis().stride(), then, strip, out, pass.monitor)?;
            }
            return Ok(());
        }
        let (weights, masks) = (pass.parameter_of_all(0), pass.masks(dropout));
        input.sparse_product(set, weights, pass.width(), masks, pass.finish(), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (input, dropout, set) = (f.features(self.features), self.features.dropout, f.rows());
        if let Features::Dense { columns, values } = input.features() {
            for strip in f.strips() {
                let x = Left { dropout: f.mask_of(strip.run, dropout), ..Left::new(values, *columns) };
                pass.parameter_gradient_of(strip.run, 0, |out, partials, _| {
                    let n = f.axis().stride();
                    dense::transposed_product_beside(set, x, d_out, n, strip, partials, out, f.monitor)
                })?;
            }
            return Ok(());
        }
        // Sparse features are prepared so; without features there is nothing to sum.
        let Prepared::Features(transposed) = f.prepared() else { return Ok(()) };
        pass.parameter_gradient_of_all(0, |out, _| {
            sparse_gradient(transposed, d_out, f.width(), f.masks(dropout), out, f.monitor)
        })
    }
}
