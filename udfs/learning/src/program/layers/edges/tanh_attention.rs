//! Attention by hyperbolic tangents, which may subtract what it reads (Ma, He and Wei 2024, Sec. 3.2).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::{Axis, Initial};
use crate::kernels::edge::{self, EdgeArgs, HeadShape, MAX_HEADS, SourceFactors, Store};
use crate::kernels::{Activation, RowSet};
use crate::network::Operator;
use crate::ops;
use crate::program::layers::store;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Builder, Forward, Layer, Mask, Prepare, Prepared, Scratch, Shapes, Slot, Tensors};

/// The inputs of the layer.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

/// `out_i = sum_j dropout(tanh(<q_i, k_j> / sqrt(d)) f_jh) v_j` head by head, over the entries of an operator: `f` is a learnt
/// number of a head and of `j` modulo the number of orders, times a constant of the order.
#[derive(Debug)]
struct TanhAttention {
    operator: Arc<Operator>,
    shape: HeadShape,
    scale: f32,
    /// The constants of the orders.
    constants: Vec<f32>,
    dropout: Option<Mask>,
    /// Learnt times constant, orders x heads.
    factors: Vec<f32>,
    tangents: Vec<f32>,
    /// The tangents times their factors, dropped.
    weights: Vec<f32>,
    d_scores: Vec<f32>,
}

impl Builder<'_, '_> {
    /// Attention over the entries of an operator without values by `tanh` in place of a softmax, times the learnt factors
    /// `{name}` of the order of a source, its number modulo `constants.len()`, and of a head (1 at first), and times its
    /// constant. Queries, keys and values have the same columns, one group of `heads` (at most [`MAX_HEADS`]) each. In
    /// training a coefficient is dropped with probability `p`.
    ///
    /// # Errors
    /// If the host refuses the memory for `3 * heads` numbers an entry.
    pub fn tanh_attention(
        &mut self,
        operator: &Arc<Operator>,
        [query, key, value]: [Slot; 3],
        heads: usize,
        name: impl Into<String>,
        constants: &[f32],
        p: f64,
    ) -> Result<Slot, Stopped> {
        let axis = self.axis(value);
        debug_assert!((1..=MAX_HEADS).contains(&heads) && self.axis(query) == axis && self.axis(key) == axis);
        let learnt = self.parameter(name, Axis::exact(constants.len()), Axis::exact(heads), Initial::Constant(1.0));
        let len = operator.n_entries() * heads;
        let layer = TanhAttention {
            operator: Arc::clone(operator),
            shape: HeadShape { heads, dim: axis.stride() / heads },
            scale: (1.0 / (axis.len() as f64 / heads as f64).sqrt()) as f32,
            constants: constants.into(),
            dropout: self.mask(p),
            factors: vec![0.0; constants.len() * heads],
            tangents: self.zeros(len)?,
            weights: self.zeros(len)?,
            d_scores: self.zeros(len)?,
        };
        let space = self.space(query);
        Ok(self.push(layer, &[query, key, value], &[learnt], space, axis))
    }
}

impl TanhAttention {
    fn factors(&self) -> SourceFactors<'_> {
        SourceFactors { values: &self.factors, period: self.constants.len(), heads: self.shape.heads }
    }
}

impl Layer for TanhAttention {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (pattern, heads, orders) =
            (tensors.operator(&self.operator)?.pattern, self.shape.heads, self.constants.len());
        let dots = pattern.dots(&tensors.inputs[QUERY], &tensors.inputs[KEY], heads)?;
        let tangents = ops::activate(&(dots * f64::from(self.scale))?, Activation::Tanh)?;
        let factors = tensors.parameters[0].broadcast_mul(&tensors.constant(&self.constants, orders, 1)?)?;
        let rows = pattern.n_columns();
        let factors = factors.unsqueeze(0)?.broadcast_as((rows / orders, orders, heads))?.reshape((rows, heads))?;
        let weights = (tangents * pattern.at_sources(&factors)?)?;
        pattern.sum(&pattern.dropout(&weights, tensors.mask(self.dropout))?, &tensors.inputs[VALUE])
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            QUERY => needs_itself(rows, needed),
            _ => needs_sources(&self.operator, rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(VALUE, &self.operator)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * self.factors.len(), transposed: 0 }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (set, shape, monitor) = (pass.rows(), self.shape, pass.monitor);
        let operator = Arc::clone(&self.operator);
        let edges = operator.incoming();
        let args = EdgeArgs { set, edges, monitor };
        for (at, (factor, learnt)) in self.factors.iter_mut().zip(pass.parameter(0)).enumerate() {
            *factor = self.constants[at / shape.heads] * learnt;
        }
        edge::dots(args, shape, pass.input(QUERY), pass.input(KEY), self.scale, &mut self.tangents)?;
        edge::tanh_scores(set, edges, shape.heads, &mut self.tangents, monitor)?;
        let mut weights = std::mem::take(&mut self.weights);
        weights.copy_from_slice(&self.tangents);
        let scaled = self.factors().scale(set, edges, &mut weights, monitor);
        self.weights = weights;
        scaled?;
        if let Some(mask) = pass.mask(self.dropout) {
            edge::drop_edges(set, edges, shape.heads, mask, &mut self.weights, monitor)?;
        }
        edge::sum_sources(args, shape, &self.weights, pass.input(VALUE), Store::Replace, out)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (forward, shape) = (pass.forward, self.shape);
        let operator = Arc::clone(&self.operator);
        let (edges, outgoing) = (operator.incoming(), by_source.outgoing());
        let (set, monitor) = (forward.rows(), forward.monitor);
        let args = EdgeArgs { set, edges, monitor };
        let mut d = std::mem::take(&mut self.d_scores);
        let mut to_scores = || -> Result<(), Stopped> {
            edge::dots(args, shape, d_out, forward.input(VALUE), 1.0, &mut d)?;
            if let Some(mask) = forward.mask(self.dropout) {
                edge::drop_edges(set, edges, shape.heads, mask, &mut d, monitor)?;
            }
            pass.parameter_gradient(0, |out, partials, _| {
                self.factors().gradient(set, edges, [&self.tangents, &d], partials, out, monitor)?;
                for (at, slope) in out.iter_mut().enumerate() {
                    *slope *= self.constants[at / shape.heads];
                }
                Ok(())
            })?;
            self.factors().scale(set, edges, &mut d, monitor)?;
            edge::through_tanh(set, edges, shape.heads, self.scale, &self.tangents, &mut d, monitor)
        };
        let done = to_scores();
        self.d_scores = d;
        done?;
        let d = &self.d_scores;
        if let Some(mut gradient) = pass.gradient(QUERY) {
            let how = store(&gradient);
            edge::sum_sources(args, shape, d, forward.input(KEY), how, &mut gradient.values)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(KEY) {
            let how = store(&gradient);
            let args = EdgeArgs { set: forward.input_rows(KEY), edges: outgoing, monitor };
            edge::sum_targets(args, shape, d, forward.input(QUERY), how, &mut gradient.values)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(VALUE) {
            let how = store(&gradient);
            let args = EdgeArgs { set: forward.input_rows(VALUE), edges: outgoing, monitor };
            edge::sum_targets(args, shape, &self.weights, d_out, how, &mut gradient.values)?;
        }
        Ok(())
    }
}
