//! Attention by scalar products over the edges into a node (Shi et al. 2021, Eq. 3-4).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::attention::Coefficients;
use super::terms::{EntryTerms, needs_table};
use crate::kernels::RowSet;
use crate::kernels::edge::{self, EdgeArgs, MAX_HEADS};
use crate::network::Operator;
use crate::program::layers::store;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Builder, Forward, Layer, Prepare, Prepared, Scratch, Shapes, Slot, Tensors};

/// The inputs of the layer.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;
const TABLE: usize = 3;

/// `out_i = sum_j dropout(alpha_ij) v_j` with `alpha_i = softmax_j (<q_i, k_j> / sqrt(d) + m_ij + u_ij)` head by head, over the
/// entries of an operator, m constant and u out of a table; zeros for a node without any.
#[derive(Debug)]
struct DotAttention {
    coefficients: Coefficients,
    scale: f32,
    /// The terms that are added to the scores of an entry; none if empty.
    bias: Arc<[f32]>,
    /// The terms out of a table, which is then an input.
    terms: Option<EntryTerms>,
}

impl Builder<'_, '_> {
    /// Attention by scalar products over the entries of an operator without values, `heads` heads (at most
    /// [`MAX_HEADS`]): queries, keys and values have the same columns, one group a head. In training a coefficient is dropped
    /// with probability `p`.
    ///
    /// # Errors
    /// If the host refuses the memory for the coefficients, `3 * heads` an entry.
    pub fn dot_attention(
        &mut self,
        operator: &Arc<Operator>,
        [query, key, value]: [Slot; 3],
        heads: usize,
        p: f64,
    ) -> Result<Slot, Stopped> {
        self.biased_attention(operator, Arc::new([]), [query, key, value], heads, p)
    }

    /// The attention with a number for each entry, added to its scores. Rows of the operator are those of the queries, columns those
    /// of keys and values, which may be of another space.
    ///
    /// # Errors
    /// The errors of [`Builder::dot_attention`].
    pub fn biased_attention(
        &mut self,
        operator: &Arc<Operator>,
        bias: Arc<[f32]>,
        [query, key, value]: [Slot; 3],
        heads: usize,
        p: f64,
    ) -> Result<Slot, Stopped> {
        self.any_attention(operator, (bias, None), &[query, key, value], heads, p)
    }

    /// The attention with a learnt number for each entry and head, added to its scores: `table` has a column a head. To the scores
    /// of each entry a number of its own is added, too, if there are any.
    ///
    /// # Errors
    /// The errors of [`Builder::dot_attention`].
    pub fn termed_attention(
        &mut self,
        operator: &Arc<Operator>,
        (bias, terms, table): (Arc<[f32]>, EntryTerms, Slot),
        [query, key, value]: [Slot; 3],
        heads: usize,
        p: f64,
    ) -> Result<Slot, Stopped> {
        debug_assert!(self.axis(table).len() == heads && self.space(table).rows() == terms.rows());
        self.any_attention(operator, (bias, Some(terms)), &[query, key, value, table], heads, p)
    }

    fn any_attention(
        &mut self,
        operator: &Arc<Operator>,
        (bias, terms): (Arc<[f32]>, Option<EntryTerms>),
        inputs: &[Slot],
        heads: usize,
        p: f64,
    ) -> Result<Slot, Stopped> {
        let [query, key, value] = [QUERY, KEY, VALUE].map(|input| inputs[input]);
        let axis = self.axis(value);
        debug_assert!((1..=MAX_HEADS).contains(&heads) && self.axis(query) == axis && self.axis(key) == axis);
        let dropout = self.mask(p);
        let layer = DotAttention {
            coefficients: Coefficients::new(self, operator, heads, axis, dropout)?,
            bias,
            terms,
            scale: (1.0 / (axis.len() as f64 / heads as f64).sqrt()) as f32,
        };
        let space = self.space(query);
        Ok(self.push(layer, inputs, &[], space, axis))
    }
}

impl Layer for DotAttention {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let own = &self.coefficients;
        let pattern = tensors.operator(&own.operator)?.pattern;
        let dots = pattern.dots(&tensors.inputs[QUERY], &tensors.inputs[KEY], own.shape.heads)?;
        let mut scores = (dots * f64::from(self.scale))?;
        if !self.bias.is_empty() {
            scores = scores.broadcast_add(&tensors.constant(&self.bias, self.bias.len(), 1)?)?;
        }
        if let Some(terms) = &self.terms {
            scores = (scores + terms.candle(tensors, TABLE)?)?;
        }
        let alpha = pattern.softmax(&scores)?;
        pattern.sum(&pattern.dropout(&alpha, tensors.mask(own.dropout))?, &tensors.inputs[VALUE])
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            QUERY => needs_itself(rows, needed),
            TABLE => needs_table(needed),
            _ => needs_sources(&self.coefficients.operator, rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(VALUE, &self.coefficients.operator)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let table = |terms: &EntryTerms| shapes.blocks() * terms.partials(shapes.input(TABLE).axis.stride());
        Scratch { partials: self.terms.as_ref().map_or(0, table), transposed: 0 }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let own = &mut self.coefficients;
        let args = EdgeArgs { set: pass.rows(), edges: own.operator.incoming(), monitor: pass.monitor };
        edge::dots(args, own.shape, pass.input(QUERY), pass.input(KEY), self.scale, &mut own.alpha)?;
        for (scores, bias) in own.alpha.chunks_exact_mut(own.shape.heads).zip(self.bias.iter()) {
            scores.iter_mut().for_each(|score| *score += bias);
        }
        if let Some(terms) = &self.terms {
            let operator = Arc::clone(&own.operator);
            terms.add(pass, operator.incoming(), (own.shape.heads, TABLE), &mut own.alpha)?;
        }
        own.attend(pass, VALUE, out)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (forward, own) = (pass.forward, &mut self.coefficients);
        // With the factor of the scores, which the rest of the way is linear in.
        own.scores_gradient(&forward, VALUE, self.scale, d_out)?;
        let (d, edges, shape) = (&own.d_scores, own.operator.incoming(), own.shape);
        if let Some(terms) = &self.terms {
            terms.table_gradient(pass, edges, (shape.heads, TABLE), d, self.scale)?;
        }
        let (set, outgoing, monitor) = (forward.rows(), by_source.outgoing(), forward.monitor);
        let (query, key) = (forward.input(QUERY), forward.input(KEY));
        if let Some(mut gradient) = pass.gradient(QUERY) {
            let how = store(&gradient);
            let args = EdgeArgs { set, edges, monitor };
            edge::sum_sources(args, shape, d, key, how, &mut gradient.values)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(KEY) {
            let how = store(&gradient);
            let args = EdgeArgs { set: forward.input_rows(KEY), edges: outgoing, monitor };
            edge::sum_targets(args, shape, d, query, how, &mut gradient.values)?;
        }
        own.message_gradient(pass, outgoing, VALUE, d_out)
    }
}
