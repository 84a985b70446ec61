//! Attention from its scores on: coefficients, their dropout, the weighted sum, and the backward pass.

use std::sync::Arc;

use bonnet_graph::Stopped;

use crate::ground::Axis;
use crate::kernels::edge::{self, EdgeArgs, HeadShape, Outgoing, Store};
use crate::network::Operator;
use crate::program::layers::store;
use crate::program::{Backward, Builder, Forward, Mask};

/// The coefficients of an attention over the entries of an operator, `heads` an edge.
#[derive(Debug)]
pub(super) struct Coefficients {
    pub operator: Arc<Operator>,
    pub shape: HeadShape,
    pub dropout: Option<Mask>,
    /// Before dropout; the scores until [`Coefficients::attend`] is called.
    pub alpha: Vec<f32>,
    dropped: Vec<f32>,
    /// The gradient of the scores.
    pub d_scores: Vec<f32>,
}

impl Coefficients {
    /// For messages with a group of the columns of `axis` a head.
    pub fn new(
        b: &mut Builder<'_, '_>,
        operator: &Arc<Operator>,
        heads: usize,
        axis: Axis,
        dropout: Option<Mask>,
    ) -> Result<Self, Stopped> {
        let len = operator.n_entries() * heads;
        Ok(Self {
            operator: Arc::clone(operator),
            shape: HeadShape { heads, dim: axis.stride() / heads },
            dropout,
            alpha: b.zeros(len)?,
            dropped: b.zeros(if dropout.is_some() { len } else { 0 })?,
            d_scores: b.zeros(len)?,
        })
    }

    /// Softmax of the scores in `alpha`, dropout, and the sum of the messages.
    pub fn attend(&mut self, pass: &Forward<'_>, message: usize, out: &mut [f32]) -> Result<(), Stopped> {
        let (set, edges, shape, monitor) = (pass.rows(), self.operator.incoming(), self.shape, pass.monitor);
        edge::softmax(set, edges, shape.heads, &mut self.alpha, monitor)?;
        let weights = match pass.mask(self.dropout) {
            None => &self.alpha,
            Some(mask) => {
                self.dropped.copy_from_slice(&self.alpha);
                edge::drop_edges(set, edges, shape.heads, mask, &mut self.dropped, monitor)?;
                &self.dropped
            }
        };
        let args = EdgeArgs { set, edges, monitor };
        edge::sum_sources(args, shape, weights, pass.input(message), Store::Replace, out)
    }

    /// Puts the gradient of the scores, times a factor, into `d_scores`.
    pub fn scores_gradient(
        &mut self,
        pass: &Forward<'_>,
        message: usize,
        factor: f32,
        d_out: &[f32],
    ) -> Result<(), Stopped> {
        let (set, edges, shape, monitor) = (pass.rows(), self.operator.incoming(), self.shape, pass.monitor);
        let d = &mut self.d_scores;
        edge::dots(EdgeArgs { set, edges, monitor }, shape, d_out, pass.input(message), factor, d)?;
        if let Some(mask) = pass.mask(self.dropout) {
            edge::drop_edges(set, edges, shape.heads, mask, d, monitor)?;
        }
        edge::softmax_gradient(set, edges, shape.heads, &self.alpha, d, monitor)
    }

    /// Passes the gradient on to the messages.
    pub fn message_gradient(
        &self,
        pass: &Backward<'_>,
        outgoing: Outgoing<'_>,
        message: usize,
        d_out: &[f32],
    ) -> Result<(), Stopped> {
        let Some(mut gradient) = pass.gradient_everywhere(message) else { return Ok(()) };
        let forward = pass.forward;
        let weights = if forward.mask(self.dropout).is_some() { &self.dropped } else { &self.alpha };
        let how = store(&gradient);
        let args = EdgeArgs { set: forward.input_rows(message), edges: outgoing, monitor: forward.monitor };
        edge::sum_targets(args, self.shape, weights, d_out, how, &mut gradient.values)
    }
}
