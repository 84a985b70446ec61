//! A loss beside the task's: how far the distances of neighbours are from 1.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::kernels::RowSet;
use crate::kernels::sparse::Csr;
use crate::network::{Operator, Pass};
use crate::program::layers::add_rows;
use crate::program::{Backward, Builder, Forward, Layer, Slot, Tensors};
use crate::spaces::{Space, neighbors};

/// Its input, whose rows are points. In training it adds `weight` times the mean over the edges of `|d^2 - 1|` to the loss:
/// the distortion of the embedding of neighbours, whose distance in the graph is 1 (Guo et al. 2025, Eq. 10).
#[derive(Debug)]
struct Distortion {
    space: Space,
    weight: f64,
    /// Both directions of every edge.
    operator: Arc<Operator>,
    penalty: f64,
    /// The gradient of the last forward pass of training.
    gradient: Vec<f32>,
}

impl Builder<'_, '_> {
    /// Points of a product of stereographic spaces as they are, with `weight` times the distortion of the problem's edges as
    /// a loss. O(edges * columns).
    ///
    /// # Errors
    /// If the host refuses the memory for a matrix of the shape of x.
    pub fn distortion(
        &mut self,
        operator: &Arc<Operator>,
        x: Slot,
        space: &Space,
        weight: f64,
    ) -> Result<Slot, Stopped> {
        let len = self.space(x).len() * self.axis(x).stride();
        let layer = Distortion {
            space: space.clone(),
            weight,
            operator: Arc::clone(operator),
            penalty: 0.0,
            gradient: self.zeros(len)?,
        };
        Ok(self.like(layer, &[x], &[]))
    }
}

impl Layer for Distortion {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        Ok(tensors.inputs[0].clone())
    }

    fn candle_penalty(&self, tensors: &Tensors<'_>) -> candle_core::Result<Option<Tensor>> {
        if self.operator.n_entries() == 0 {
            return Ok(None);
        }
        let (x, pattern) = (&tensors.inputs[0], tensors.operator(&self.operator)?.pattern);
        let double = |x: Tensor| x.to_dtype(candle_core::DType::F64);
        let (from, to) = (double(pattern.at_sources(x)?)?, double(pattern.at_targets(x)?)?);
        let apart = (self.space.square_distance(&from, &to)? - 1.0)?.abs()?;
        let mean = (apart.sum_keepdim((0, 1))? * (self.weight / self.operator.n_entries() as f64))?;
        Ok(Some(mean.to_dtype(x.dtype())?))
    }

    /// The loss reads every row.
    fn reach(&self, _input: usize, _rows: &RowSet, needed: &mut [bool]) {
        needed.fill(true);
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, stride) = (pass.input(0), pass.axis().stride());
        for &row in pass.rows().rows() {
            let at = row as usize * stride..(row as usize + 1) * stride;
            out[at.clone()].copy_from_slice(&x[at]);
        }
        self.penalty = 0.0;
        if let (Pass::Train { .. }, 1..) = (pass.pass(), self.operator.n_entries()) {
            let scale = 2.0 * self.weight / self.operator.n_entries() as f64;
            let of = |square: f64| ((square - 1.0).abs() * scale, scale * sign(square - 1.0));
            let Csr { offsets, columns, .. } = self.operator.csr();
            let (space, gradient) = (&self.space, &mut self.gradient);
            self.penalty = neighbors::gradient(space, (offsets, columns), x, gradient, pass.monitor, &of)?;
        }
        Ok(())
    }

    fn penalty(&self) -> f64 {
        self.penalty
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        add_rows(pass, 0, 1.0, d_out)?;
        if self.operator.n_entries() == 0 {
            return Ok(());
        }
        if let Some(mut d_x) = pass.gradient_everywhere(0) {
            d_x.values.iter_mut().zip(&self.gradient).for_each(|(sum, own)| *sum += own);
        }
        Ok(())
    }
}

/// 0 at 0.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
