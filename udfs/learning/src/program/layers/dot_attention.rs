//! Attention by scalar products over the edges into a node (Shi et al. 2021, Eq. 3-4).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Gather, Layer, Lower, Prepare, Prepared, Sink, Slot, Tensors};
use super::attention::Coefficients;
use super::device::{self, ALPHA};
use super::{needs_itself, needs_sources, store};
use crate::device::{DeviceError, args};
use crate::kernels::RowSet;
use crate::kernels::edge::{self, MAX_HEADS, Shape};
use crate::network::Operator;

/// The inputs of the layer.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

/// `out_i = sum_j dropout(alpha_ij) v_j` with `alpha_i = softmax_j <q_i, k_j> / sqrt(d)` head by head, over the entries of
/// an operator; zeros for a node without any.
#[derive(Debug)]
struct DotAttention {
    coefficients: Coefficients,
    scale: f32,
}

impl Builder<'_, '_, '_> {
    /// Attention by scalar products over the entries of an operator without values, `heads` heads (at most
    /// [`MAX_HEADS`]): queries, keys and values have the same columns, one group a head. In training a coefficient is dropped
    /// with probability `p`.
    ///
    /// # Errors
    /// If the host refuses the room for the coefficients, `3 * heads` an entry.
    pub fn dot_attention(
        &mut self,
        operator: &Arc<Operator>,
        [query, key, value]: [Slot; 3],
        heads: usize,
        p: f64,
    ) -> Result<Slot, Stopped> {
        let axis = self.axis(value);
        debug_assert!((1..=MAX_HEADS).contains(&heads) && self.axis(query) == axis && self.axis(key) == axis);
        let dropout = self.mask(p);
        let layer = DotAttention {
            coefficients: Coefficients::new(self, operator, heads, axis, dropout)?,
            scale: (1.0 / (axis.len() as f64 / heads as f64).sqrt()) as f32,
        };
        let space = self.space(value);
        Ok(self.push(layer, &[query, key, value], &[], space, axis))
    }
}

impl Layer for DotAttention {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let own = &self.coefficients;
        let pattern = tensors.operator(&own.operator)?.pattern;
        let dots = pattern.dots(&tensors.inputs[QUERY], &tensors.inputs[KEY], own.shape.heads)?;
        let alpha = pattern.softmax(&(dots * f64::from(self.scale))?)?;
        pattern.sum(&pattern.dropout(&alpha, tensors.mask(own.dropout))?, &tensors.inputs[VALUE])
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            QUERY => needs_itself(rows, needed),
            _ => needs_sources(&self.coefficients.operator, rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(VALUE, &self.coefficients.operator)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let own = &mut self.coefficients;
        let (edges, query, key) = (own.operator.incoming(), pass.input(QUERY), pass.input(KEY));
        edge::dots(pass.rows(), edges, own.shape, query, key, self.scale, &mut own.alpha, pass.monitor)?;
        own.attend(pass, VALUE, out)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (forward, own) = (pass.forward, &mut self.coefficients);
        // With the factor of the scores, which the rest of the way is linear in.
        own.scores_gradient(&forward, VALUE, self.scale, d_out)?;
        let (d, edges, shape) = (&own.d_scores, own.operator.incoming(), own.shape);
        let (set, outgoing, monitor) = (forward.rows(), by_source.outgoing(), forward.monitor);
        let (query, key) = (forward.input(QUERY), forward.input(KEY));
        if let Some(mut gradient) = pass.gradient(QUERY) {
            let how = store(&gradient);
            edge::sum_sources(set, edges, shape, d, key, how, &mut gradient.values, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(KEY) {
            let (set, how) = (forward.input_rows(KEY), store(&gradient));
            edge::sum_targets(set, outgoing, shape, d, query, how, &mut gradient.values, monitor)?;
        }
        own.message_gradient(pass, outgoing, VALUE, d_out)
    }

    fn lower_forward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let Coefficients { operator, shape: Shape { heads, dim }, dropout, .. } = &self.coefficients;
        let (rows, entries, len) = (lower.rows(), lower.operator(operator)?, operator.n_entries());
        let (heads, dim) = (*heads, *dim);
        let alpha = lower.own(ALPHA, len * heads)?;
        let (query, key) = (lower.input(QUERY), lower.input(KEY));
        let args = args![entries.offsets, entries.columns, heads, dim, query, key, self.scale, alpha];
        lower.by_warp("edge_dots", rows, args);
        lower.by_warp("edge_softmax", rows, args![entries.offsets, heads, alpha]);
        let mask = lower.mask(*dropout);
        device::attend(lower, entries, len, heads, VALUE, mask)
    }

    fn lower_backward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let Some(by_source) = lower.transposed()? else { return Ok(()) };
        let own = &self.coefficients;
        let (entries, Shape { heads, dim }) = (lower.operator(&own.operator)?, own.shape);
        let (mask, len) = (lower.mask(own.dropout), own.operator.n_entries());
        let d = device::attend_gradient(lower, entries, by_source, len, (heads, dim), VALUE, self.scale, mask)?;
        let (rows, width) = (lower.rows(), lower.width());
        let gather = Gather { weights: Some(d), heads, ..Gather::plain(entries, lower.input(KEY), width, d) };
        if let Some(Sink { buffer, add }) = lower.gradient(QUERY)? {
            lower.gather(rows, Gather { add, out: (buffer, width), ..gather });
        }
        if let Some(Sink { buffer, add }) = lower.gradient_everywhere(KEY) {
            let (rows, x) = (lower.input_rows(KEY), (lower.input(QUERY), width));
            lower.gather(rows, Gather { entries: by_source, x, add, out: (buffer, width), ..gather });
        }
        Ok(())
    }
}
