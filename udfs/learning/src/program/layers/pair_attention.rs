//! Attention whose scores are sums of one number of the target and one of the source (Velickovic et al. 2018, Eq. 3-4).

use std::sync::Arc;

use bonnet_graph::Stopped;

use super::super::{Backward, Builder, Forward, Layer, Lower, Mask, Prepare, Prepared, Slot};
use super::device::{self, ALPHA};
use super::store;
use crate::device::{DeviceError, args};
use crate::kernels::RowSet;
use crate::kernels::edge::{self, Gate, MAX_HEADS, PairScores, Shape, Store, Total};
use crate::models::Operator;

/// The inputs of the layer.
const TARGET: usize = 0;
const SOURCE: usize = 1;
const MESSAGE: usize = 2;

/// What the layer holds on a device beside its coefficients.
const SCORES: usize = 2;

/// `out_i = sum_j dropout(alpha_ij) x_j` with `alpha_i = softmax_j gate(t_i + s_j)` head by head, over the entries of an
/// operator; zeros for a node without any.
#[derive(Debug)]
struct PairAttention {
    operator: Arc<Operator>,
    shape: Shape,
    gate: Gate,
    dropout: Option<Mask>,
    /// The scores, the coefficients before dropout and after it, and the gradient of the scores, `heads` an edge.
    scores: Vec<f32>,
    alpha: Vec<f32>,
    dropped: Vec<f32>,
    d_scores: Vec<f32>,
}

impl Builder<'_, '_, '_> {
    /// Attention over the entries of an operator without values, `heads` heads (at most [`MAX_HEADS`]): the numbers of a
    /// head are a column of `target` and of `source`, slots with the same columns; the message has a group of columns a
    /// head. In training a coefficient is dropped by the mask.
    ///
    /// # Errors
    /// If the host refuses the room for the coefficients, `4 * heads` an entry.
    pub fn pair_attention(
        &mut self,
        operator: &Arc<Operator>,
        [target, source, message]: [Slot; 3],
        heads: usize,
        gate: Gate,
        dropout: Option<Mask>,
    ) -> Result<Slot, Stopped> {
        let (space, axis) = (self.space(message), self.axis(message));
        debug_assert!((1..=MAX_HEADS).contains(&heads) && self.axis(target) == self.axis(source));
        let len = operator.n_entries() * heads;
        let layer = PairAttention {
            operator: Arc::clone(operator),
            shape: Shape { heads, dim: axis.stride() / heads },
            gate,
            dropout,
            scores: self.zeros(len)?,
            alpha: self.zeros(len)?,
            dropped: self.zeros(if dropout.is_some() { len } else { 0 })?,
            d_scores: self.zeros(len)?,
        };
        Ok(self.push(layer, &[target, source, message], &[], space, axis))
    }
}

impl Layer for PairAttention {
    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        for &row in rows.rows() {
            match input {
                TARGET => needed[row as usize] = true,
                _ => self.operator.row(row).iter().for_each(|&source| needed[source as usize] = true),
            }
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(MESSAGE, &self.operator)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (set, edges, shape, monitor) = (pass.rows(), self.operator.incoming(), self.shape, pass.monitor);
        let stride = pass.input_axis(TARGET).stride();
        let (target, source) = (pass.input(TARGET), pass.input(SOURCE));
        let scores = PairScores { heads: shape.heads, target, source, stride, gate: self.gate };
        edge::pair_scores(set, edges, scores, &mut self.scores, monitor)?;
        self.alpha.copy_from_slice(&self.scores);
        edge::softmax(set, edges, shape.heads, &mut self.alpha, monitor)?;
        let weights = match pass.mask(self.dropout) {
            None => &self.alpha,
            Some(mask) => {
                self.dropped.copy_from_slice(&self.alpha);
                edge::drop_edges(set, edges, shape.heads, mask, &mut self.dropped, monitor)?;
                &self.dropped
            }
        };
        edge::sum_sources(set, edges, shape, weights, pass.input(MESSAGE), Store::Replace, out, monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (forward, shape) = (pass.forward, self.shape);
        let (set, edges, outgoing, monitor) =
            (forward.rows(), self.operator.incoming(), by_source.outgoing(), forward.monitor);
        let (heads, stride, mask) = (shape.heads, forward.input_axis(TARGET).stride(), forward.mask(self.dropout));
        let d = &mut self.d_scores;
        edge::dots(set, edges, shape, d_out, forward.input(MESSAGE), 1.0, d, monitor)?;
        if let Some(mask) = mask {
            edge::drop_edges(set, edges, heads, mask, d, monitor)?;
        }
        edge::softmax_gradient(set, edges, heads, &self.alpha, d, monitor)?;
        edge::through_gate(set, edges, heads, self.gate, &self.scores, d, monitor)?;
        if let Some(mut gradient) = pass.gradient(TARGET) {
            let (total, how) = (Total::Sum, store(&gradient));
            edge::sum_at_targets(set, edges, heads, d, total, how, &mut gradient.values, stride, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(SOURCE) {
            let (set, how) = (forward.input_rows(SOURCE), store(&gradient));
            edge::sum_at_sources(set, outgoing, heads, d, how, &mut gradient.values, stride, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(MESSAGE) {
            let weights = if mask.is_some() { &self.dropped } else { &self.alpha };
            let (set, how) = (forward.input_rows(MESSAGE), store(&gradient));
            edge::sum_targets(set, outgoing, shape, weights, d_out, how, &mut gradient.values, monitor)?;
        }
        Ok(())
    }

    fn lower_forward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let (rows, entries, heads) = (lower.rows(), lower.operator(&self.operator)?, self.shape.heads);
        let len = self.operator.n_entries();
        let (scores, alpha) = (lower.own(SCORES, len * heads)?, lower.own(ALPHA, len * heads)?);
        device::pair_scores(lower, entries, heads, (TARGET, SOURCE), self.gate, scores);
        let nothing = args![entries.offsets, entries.columns, heads, None, None, scores, alpha];
        lower.by_warp("edge_scale", rows, nothing);
        lower.by_warp("edge_softmax", rows, args![entries.offsets, heads, alpha]);
        let mask = lower.mask(self.dropout);
        device::attend(lower, entries, len, heads, MESSAGE, mask)
    }

    fn lower_backward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let Some(by_source) = lower.transposed()? else { return Ok(()) };
        let (entries, Shape { heads, dim }, len) =
            (lower.operator(&self.operator)?, self.shape, self.operator.n_entries());
        let (scores, mask) = (lower.own(SCORES, len * heads)?, lower.mask(self.dropout));
        let d = device::attend_gradient(lower, entries, by_source, len, (heads, dim), MESSAGE, 1.0, mask)?;
        device::pair_scores_gradient(lower, entries, by_source, heads, (TARGET, SOURCE), self.gate, scores, d)
    }
}
