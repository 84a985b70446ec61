//! A loss beside the task's: how far the distances of neighbours are from 1.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Layer, Slot, Tensors};
use super::add_rows;
use crate::kernels::RowSet;
use crate::network::{Operator, Pass};
use crate::spaces::{Space, pairs};

/// Its input, whose rows are points. In training it adds `weight` times the mean over the edges of `|d^2 - 1|` to the loss:
/// the distortion of the embedding of neighbours, whose distance in the graph is 1 (Guo et al. 2025, Eq. 10).
#[derive(Debug)]
struct Distortion {
    space: Space,
    weight: f64,
    edges: Vec<(u32, u32)>,
    /// Both directions of every edge, for tensors.
    operator: Arc<Operator>,
    penalty: f64,
    /// The gradient of the last forward pass of training.
    gradient: Vec<f32>,
}

impl Builder<'_, '_, '_> {
    /// Points as they are, with `weight` times the distortion of the problem's edges as a loss. O(edges * columns).
    ///
    /// # Errors
    /// If the host refuses the room for the edges and a matrix of the shape of x.
    pub fn distortion(
        &mut self,
        operator: &Arc<Operator>,
        x: Slot,
        space: &Space,
        weight: f64,
    ) -> Result<Slot, Stopped> {
        let below = |v: u32| operator.row(v).iter().filter(move |&&u| u < v).map(move |&u| (u, v));
        self.reservation().grow(8 * operator.n_entries())?;
        let edges = (0..operator.n_rows() as u32).flat_map(below).collect();
        let len = self.space(x).len() * self.axis(x).stride();
        let layer = Distortion {
            space: space.clone(),
            weight,
            edges,
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
        if self.edges.is_empty() {
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
        if let (Pass::Train { .. }, false) = (pass.pass, self.edges.is_empty()) {
            let scale = self.weight / self.edges.len() as f64;
            let of = |_: usize, square: f64| ((square - 1.0).abs() * scale, scale * sign(square - 1.0));
            self.penalty = pairs::gradient(&self.space, &self.edges, x, &mut self.gradient, pass.monitor, &of)?;
        }
        Ok(())
    }

    fn penalty(&self) -> f64 {
        self.penalty
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        add_rows(pass, 0, 1.0, d_out)?;
        if self.edges.is_empty() {
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
