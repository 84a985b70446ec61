//! Attention by scalar products over the edges into a node (Shi et al. 2021, Eq. 3-4).

use std::sync::Arc;

use bonnet_graph::Stopped;

use super::super::{Backward, Builder, Forward, Gather, Layer, Lower, Mask, Prepare, Prepared, Sink, Slot};
use super::device::{self, ALPHA};
use super::store;
use crate::device::{DeviceError, args};
use crate::kernels::RowSet;
use crate::kernels::edge::{self, MAX_HEADS, Shape, Store};
use crate::models::Operator;

/// The inputs of the layer.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

/// `out_i = sum_j dropout(alpha_ij) v_j` with `alpha_i = softmax_j <q_i, k_j> / sqrt(d)` head by head, over the entries of
/// an operator; zeros for a node without any.
#[derive(Debug)]
struct DotAttention {
    operator: Arc<Operator>,
    shape: Shape,
    scale: f32,
    dropout: Option<Mask>,
    /// The coefficients before dropout and after it, `heads` an edge.
    alpha: Vec<f32>,
    dropped: Vec<f32>,
    d_scores: Vec<f32>,
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
        let len = operator.n_entries() * heads;
        let layer = DotAttention {
            operator: Arc::clone(operator),
            shape: Shape { heads, dim: axis.stride() / heads },
            scale: (1.0 / (axis.len() as f64 / heads as f64).sqrt()) as f32,
            dropout: self.mask(p),
            alpha: self.zeros(len)?,
            dropped: self.zeros(if p > 0.0 { len } else { 0 })?,
            d_scores: self.zeros(len)?,
        };
        let space = self.space(value);
        Ok(self.push(layer, &[query, key, value], &[], space, axis))
    }
}

impl Layer for DotAttention {
    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        for &row in rows.rows() {
            match input {
                QUERY => needed[row as usize] = true,
                _ => self.operator.row(row).iter().for_each(|&source| needed[source as usize] = true),
            }
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(VALUE, &self.operator)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (set, edges, shape, monitor) = (pass.rows(), self.operator.incoming(), self.shape, pass.monitor);
        let alpha = &mut self.alpha;
        edge::dots(set, edges, shape, pass.input(QUERY), pass.input(KEY), self.scale, alpha, monitor)?;
        edge::softmax(set, edges, shape.heads, alpha, monitor)?;
        let weights = match pass.mask(self.dropout) {
            None => &self.alpha,
            Some(mask) => {
                self.dropped.copy_from_slice(&self.alpha);
                edge::drop_edges(set, edges, shape.heads, mask, &mut self.dropped, monitor)?;
                &self.dropped
            }
        };
        edge::sum_sources(set, edges, shape, weights, pass.input(VALUE), Store::Replace, out, monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (forward, shape) = (pass.forward, self.shape);
        let (set, edges, outgoing, monitor) =
            (forward.rows(), self.operator.incoming(), by_source.outgoing(), forward.monitor);
        let (query, key, value) = (forward.input(QUERY), forward.input(KEY), forward.input(VALUE));
        let mask = forward.mask(self.dropout);
        let d = &mut self.d_scores;
        // With the factor of the scores, which the rest of the way is linear in.
        edge::dots(set, edges, shape, d_out, value, self.scale, d, monitor)?;
        if let Some(mask) = mask {
            edge::drop_edges(set, edges, shape.heads, mask, d, monitor)?;
        }
        edge::softmax_gradient(set, edges, shape.heads, &self.alpha, d, monitor)?;
        if let Some(mut gradient) = pass.gradient(QUERY) {
            let how = store(&gradient);
            edge::sum_sources(set, edges, shape, d, key, how, &mut gradient.values, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(KEY) {
            let (set, how) = (forward.input_rows(KEY), store(&gradient));
            edge::sum_targets(set, outgoing, shape, d, query, how, &mut gradient.values, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(VALUE) {
            let weights = if mask.is_some() { &self.dropped } else { &self.alpha };
            let (set, how) = (forward.input_rows(VALUE), store(&gradient));
            edge::sum_targets(set, outgoing, shape, weights, d_out, how, &mut gradient.values, monitor)?;
        }
        Ok(())
    }

    fn lower_forward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let (rows, entries, Shape { heads, dim }) = (lower.rows(), lower.operator(&self.operator)?, self.shape);
        let alpha = lower.own(ALPHA, self.operator.n_entries() * heads)?;
        let (query, key) = (lower.input(QUERY), lower.input(KEY));
        let args = args![entries.offsets, entries.columns, heads, dim, query, key, self.scale, alpha];
        lower.by_warp("edge_dots", rows, args);
        lower.by_warp("edge_softmax", rows, args![entries.offsets, heads, alpha]);
        let mask = lower.mask(self.dropout);
        device::attend(lower, entries, self.operator.n_entries(), heads, VALUE, mask)
    }

    fn lower_backward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let Some(by_source) = lower.transposed()? else { return Ok(()) };
        let (entries, Shape { heads, dim }) = (lower.operator(&self.operator)?, self.shape);
        let mask = lower.mask(self.dropout);
        let len = self.operator.n_entries();
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
