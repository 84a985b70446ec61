//! Messages of one half of the columns, added to the other half: two products side by side, of which one is sent.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::Axis;
use crate::kernels::RowSet;
use crate::kernels::elementwise::Finish;
use crate::kernels::sparse::{Mask, Own, Product};
use crate::network::Operator;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Builder, Forward, Layer, Prepare, Prepared, Slot, Tensors};

/// `P x_1 + x_2` where the columns of x are `[x_1 | x_2]`.
#[derive(Debug)]
struct PropagateBeside {
    operator: Arc<Operator>,
}

impl Builder<'_, '_> {
    /// `P x_1 + x_2` of a slot `[x_1 | x_2]` of two groups of `width` columns.
    pub fn propagate_beside(&mut self, operator: &Arc<Operator>, x: Slot, width: usize) -> Slot {
        debug_assert_eq!(self.axis(x), Axis::padded(2, width));
        let space = self.space(x);
        self.push(PropagateBeside { operator: Arc::clone(operator) }, &[x], &[], space, Axis::padded(1, width))
    }
}

impl Layer for PropagateBeside {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, width) = (&tensors.inputs[0], tensors.axis().len());
        let sent = tensors.operator(&self.operator)?.product(&x.narrow(1, 0, width)?)?;
        sent + x.narrow(1, width, width)?
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        needs_itself(rows, needed);
        needs_sources(&self.operator, rows, needed);
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
        let (matrix, width) = (self.operator.csr(), pass.axis().stride());
        for strip in pass.strips() {
            let (x, stride) = (&pass.input(0)[strip.run * 2 * width..], strip.of * 2 * width);
            let (mask, own, finish) = (Mask::None, Own::Columns(width), pass.finish_of(strip.run));
            let product = Product { matrix, mask, x, stride, width, own, finish };
            product.run_beside(pass.rows(), strip, out, pass.monitor)?;
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(transposed) = pass.forward.prepared() else { return Ok(()) };
        let (f, width) = (pass.forward, pass.forward.axis().stride());
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        let own = if d_x.add { Own::Output } else { Own::Nothing };
        let (matrix, finish) = (transposed.csr(), Finish::NOTHING);
        for strip in f.strips() {
            let (mask, x, stride) = (Mask::None, &d_out[strip.run * width..], strip.of * width);
            let back = Product { matrix, mask, x, stride, width, own, finish };
            back.run_beside_copy(f.input_rows(0), f.rows(), strip, &mut d_x.values, f.monitor)?;
        }
        Ok(())
    }
}
