//! Products with the weights of each row's kind.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::super::{
    Backward, Builder, Forward, Layer, Parameter, Prepare, Prepared, Scratch, Shapes, Slot, Tensors,
};
use crate::ground::{Axis, Initial};
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::Finish;
use crate::network::Kinds;

/// `x_i W_t` with the weights of the kind `t` of row `i`; a parameter a kind.
#[derive(Debug)]
struct KindLinear {
    kinds: Kinds,
}

impl Builder<'_, '_> {
    /// `x_i W_t` with new weights for each kind of rows, named `name(kind)`. Of one kind it is a linear layer.
    pub fn kind_linear(
        &mut self,
        x: Slot,
        kinds: &Kinds,
        name: impl Fn(&str) -> String,
        columns: Axis,
        initial: &Initial,
    ) -> Slot {
        let (rows, space) = (self.axis(x), self.space(x));
        let weights: Vec<Parameter> =
            kinds.names.iter().map(|kind| self.parameter(name(kind), rows, columns, initial.clone())).collect();
        match weights[..] {
            [weights] => self.linear_with(x, weights),
            _ => self.push(KindLinear { kinds: kinds.clone() }, &[x], &weights, space, columns),
        }
    }
}

/// The product of each row with the weights of its kind.
pub(super) fn of_rows(
    kinds: &Kinds,
    x: &Tensor,
    weights: &[Tensor],
    tensors: &Tensors<'_>,
) -> candle_core::Result<Tensor> {
    let (mut sum, n) = (None, kinds.of.len());
    for (kind, weights) in (0u32..).zip(weights) {
        let own: Vec<f32> = kinds.of.iter().map(|of| f32::from(u8::from(*of == kind))).collect();
        let term = x.matmul(weights)?.broadcast_mul(&tensors.of_pass(&own, n, 1)?)?;
        sum = Some(match sum {
            None => term,
            Some(sum) => (sum + term)?,
        });
    }
    match sum {
        Some(sum) => Ok(sum),
        None => candle_core::bail!("rows have kinds"),
    }
}

impl Layer for KindLinear {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        of_rows(&self.kinds, &tensors.inputs[0], tensors.parameters, tensors)
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.kinds(&self.kinds)
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
        let Prepared::Kinds(sets) = pass.prepared() else { return Ok(()) };
        let k = pass.input_axis(0).stride();
        for (kind, set) in sets.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
            let (x, then) = (Left::new(pass.input(0), k), Then::Finish(pass.finish()));
            dense::product(set, x, pass.parameter(kind), pass.width(), then, out, pass.monitor)?;
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let Prepared::Kinds(sets) = f.prepared() else { return Ok(()) };
        let (k, n) = (f.input_axis(0).stride(), f.width());
        for (kind, set) in sets.iter().enumerate() {
            pass.parameter_gradient(kind, |out, partials, _| {
                dense::transposed_product(set, Left::new(f.input(0), k), d_out, n, partials, out, f.monitor)
            })?;
        }
        let Some(mut d_x) = pass.gradient(0) else { return Ok(()) };
        let gate = if d_x.add { None } else { pass.gate(0) };
        let then = match d_x.add {
            true => Then::Add,
            false => gate.map_or(Then::Finish(Finish::NOTHING), Then::Gate),
        };
        for (kind, set) in sets.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
            let (_, transposed) = pass.scratch();
            let (left, out) = (Left::new(d_out, n), &mut d_x.values);
            dense::product_by_transposed(set, left, f.parameter(kind), k, transposed, then, out, f.monitor)?;
        }
        Ok(())
    }
}
