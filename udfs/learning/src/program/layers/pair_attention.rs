//! Attention whose scores are sums of one number of the target and one of the source (Velickovic et al. 2018, Eq. 3-4).

use std::sync::Arc;

use bonnet_graph::Stopped;

use super::super::{Backward, Builder, Forward, Layer, Lower, Mask, Prepare, Prepared, Slot};
use super::attention::Coefficients;
use super::device::{self, ALPHA};
use super::{needs_itself, needs_sources, store};
use crate::device::{DeviceError, args};
use crate::kernels::RowSet;
use crate::kernels::edge::{self, Gate, MAX_HEADS, PairScores, Shape, Total};
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
    coefficients: Coefficients,
    gate: Gate,
    /// `heads` an edge.
    scores: Vec<f32>,
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
        let layer = PairAttention {
            coefficients: Coefficients::new(self, operator, heads, axis, dropout)?,
            gate,
            scores: self.zeros(operator.n_entries() * heads)?,
        };
        Ok(self.push(layer, &[target, source, message], &[], space, axis))
    }
}

impl Layer for PairAttention {
    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            TARGET => needs_itself(rows, needed),
            _ => needs_sources(&self.coefficients.operator, rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(MESSAGE, &self.coefficients.operator)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let own = &mut self.coefficients;
        let stride = pass.input_axis(TARGET).stride();
        let (target, source) = (pass.input(TARGET), pass.input(SOURCE));
        let scores = PairScores { heads: own.shape.heads, target, source, stride, gate: self.gate };
        edge::pair_scores(pass.rows(), own.operator.incoming(), scores, &mut self.scores, pass.monitor)?;
        own.alpha.copy_from_slice(&self.scores);
        own.attend(pass, MESSAGE, out)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (forward, own) = (pass.forward, &mut self.coefficients);
        own.scores_gradient(&forward, MESSAGE, 1.0, d_out)?;
        let (set, edges, outgoing, monitor) =
            (forward.rows(), own.operator.incoming(), by_source.outgoing(), forward.monitor);
        let (heads, stride) = (own.shape.heads, forward.input_axis(TARGET).stride());
        edge::through_gate(set, edges, heads, self.gate, &self.scores, &mut own.d_scores, monitor)?;
        let d = &own.d_scores;
        if let Some(mut gradient) = pass.gradient(TARGET) {
            let (total, how) = (Total::Sum, store(&gradient));
            edge::sum_at_targets(set, edges, heads, d, total, how, &mut gradient.values, stride, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(SOURCE) {
            let (set, how) = (forward.input_rows(SOURCE), store(&gradient));
            edge::sum_at_sources(set, outgoing, heads, d, how, &mut gradient.values, stride, monitor)?;
        }
        own.message_gradient(pass, outgoing, MESSAGE, d_out)
    }

    fn lower_forward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let own = &self.coefficients;
        let (rows, entries, heads) = (lower.rows(), lower.operator(&own.operator)?, own.shape.heads);
        let len = own.operator.n_entries();
        let (scores, alpha) = (lower.own(SCORES, len * heads)?, lower.own(ALPHA, len * heads)?);
        device::pair_scores(lower, entries, heads, (TARGET, SOURCE), self.gate, scores);
        let nothing = args![entries.offsets, entries.columns, heads, None, None, scores, alpha];
        lower.by_warp("edge_scale", rows, nothing);
        lower.by_warp("edge_softmax", rows, args![entries.offsets, heads, alpha]);
        let mask = lower.mask(own.dropout);
        device::attend(lower, entries, len, heads, MESSAGE, mask)
    }

    fn lower_backward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let Some(by_source) = lower.transposed()? else { return Ok(()) };
        let own = &self.coefficients;
        let (entries, Shape { heads, dim }, len) =
            (lower.operator(&own.operator)?, own.shape, own.operator.n_entries());
        let (scores, mask) = (lower.own(SCORES, len * heads)?, lower.mask(own.dropout));
        let d = device::attend_gradient(lower, entries, by_source, len, (heads, dim), MESSAGE, 1.0, mask)?;
        device::pair_scores_gradient(lower, entries, by_source, heads, (TARGET, SOURCE), self.gate, scores, d)
    }
}
