//! Messages along the entries of a fixed sparse matrix.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::kernels::RowSet;
use crate::kernels::elementwise::Finish;
use crate::kernels::propagate::{Base, Propagate};
use crate::network::Operator;
use crate::program::layers::add_rows;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Forward, Layer, Prepare, Prepared, Tensors};

/// `scale * P x`, plus `factor * y` if there is a second input.
#[derive(Debug)]
pub struct Propagation {
    /// P.
    pub operator: Arc<Operator>,
    /// The factor of `P x`.
    pub scale: f32,
    /// The factor of y.
    pub factor: f32,
}

impl Layer for Propagation {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let sum = (tensors.operator(&self.operator)?.product(&tensors.inputs[0])? * f64::from(self.scale))?;
        match tensors.inputs.get(1) {
            Some(y) => sum + (y * f64::from(self.factor))?,
            None => Ok(sum),
        }
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            0 => needs_sources(&self.operator, rows, needed),
            _ => needs_itself(rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(0, &self.operator)
    }

    fn finishes(&self) -> bool {
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
        let base = if pass.n_inputs() == 2 { Base::Rows(pass.input(1), self.factor) } else { Base::Zero };
        let (x, width, finish) = (pass.input(0), pass.width(), pass.finish());
        let propagate = Propagate { matrix: self.operator.csr(), x, width, scale: self.scale, base, finish };
        propagate.run(pass.rows(), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        if f.n_inputs() == 2 {
            add_rows(pass, 1, self.factor, d_out)?;
        }
        let Prepared::Transposed(transposed) = f.prepared() else { return Ok(()) };
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        let base = if d_x.add { Base::Output } else { Base::Zero };
        let (matrix, width, finish) = (transposed.csr(), f.width(), Finish::NOTHING);
        let propagate = Propagate { matrix, x: d_out, width, scale: self.scale, base, finish };
        propagate.run(f.input_rows(0), &mut d_x.values, f.monitor)
    }
}
