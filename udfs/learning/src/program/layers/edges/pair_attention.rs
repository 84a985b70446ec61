//! Attention whose scores are sums of one number of the target and one of the source (Velickovic et al. 2018, Eq. 1-5).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::{Axis, Initial};
use crate::kernels::RowSet;
use crate::kernels::attention::{self, Attend, AttentionShape, BackwardSources, MAX_HEADS};
use crate::kernels::elementwise::Activation;
use crate::network::Operator;
use crate::ops;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Builder, Forward, Layer, Mask, Prepare, Prepared, Scratch, Shapes, Slot, Tensors};

/// The input of the layer.
const MESSAGE: usize = 0;
/// Its parameters: the attention vectors of sources and of targets.
const SOURCE: usize = 0;
const TARGET: usize = 1;

/// `out_i = sum_j dropout(alpha_ij) x_j` with `alpha_i = softmax_j leaky(<a, x_j> + <c, x_i>)` head by head, over the entries
/// of an operator; zeros for a node without any. One pass over the entries forward, two backward.
#[derive(Debug)]
struct PairAttention {
    operator: Arc<Operator>,
    shape: AttentionShape,
    dropout: Option<Mask>,
    /// The scalar products of a node with both vectors, `2 * heads` a node.
    scores: Vec<f32>,
    /// `heads` an entry: before dropout, and after it once the backward pass has read it.
    alpha: Vec<f32>,
    d_scores: Vec<f32>,
    /// `heads` a node.
    d_source: Vec<f32>,
    d_target: Vec<f32>,
    /// The gradients of both vectors.
    d_vectors: Vec<f32>,
}

impl Builder<'_, '_> {
    /// Attention over the entries of an operator without values, `heads` heads (at most [`MAX_HEADS`]), each with a group of
    /// the slot's columns. The vectors are the parameters `{name}.source` and `{name}.target`; `slope` is that of the leaky
    /// rectifier below 0. In training a coefficient is dropped by the mask.
    ///
    /// # Errors
    /// If the host refuses the memory for the coefficients, `8 * heads` bytes an entry and `16 * heads` a node.
    pub fn pair_attention(
        &mut self,
        operator: &Arc<Operator>,
        x: Slot,
        name: &str,
        heads: usize,
        slope: f32,
        dropout: Option<Mask>,
    ) -> Result<Slot, Stopped> {
        let (space, axis) = (self.space(x), self.axis(x));
        debug_assert!((1..=MAX_HEADS).contains(&heads) && self.has_gradient(x));
        let mut vector = |end: &str| {
            let initial = Initial::glorot(heads, axis.len() / heads);
            self.parameter(format!("{name}.{end}"), Axis::exact(1), axis, initial)
        };
        let vectors = [vector("source"), vector("target")];
        let (n, entries) = (operator.n_rows(), operator.n_entries());
        let layer = PairAttention {
            operator: Arc::clone(operator),
            shape: AttentionShape { heads, dim: axis.stride() / heads, slope },
            dropout,
            scores: self.zeros(2 * n * heads)?,
            alpha: self.zeros(entries * heads)?,
            d_scores: self.zeros(entries * heads)?,
            d_source: self.zeros(n * heads)?,
            d_target: self.zeros(n * heads)?,
            d_vectors: self.zeros(2 * axis.stride())?,
        };
        Ok(self.push(layer, &[x], &vectors, space, axis))
    }
}

impl Layer for PairAttention {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, heads) = (&tensors.inputs[MESSAGE], self.shape.heads);
        let (n, width) = x.dims2()?;
        let pattern = tensors.operator(&self.operator)?.pattern;
        let dots = |vector: &Tensor| x.broadcast_mul(vector)?.reshape((n, heads, width / heads))?.sum(2);
        let (source, target) = (dots(&tensors.parameters[SOURCE])?, dots(&tensors.parameters[TARGET])?);
        let scores = (pattern.at_targets(&target)? + pattern.at_sources(&source)?)?;
        let alpha = pattern.softmax(&ops::activate(&scores, Activation::Leaky(self.shape.slope))?)?;
        pattern.sum(&pattern.dropout(&alpha, tensors.mask(self.dropout))?, x)
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        needs_itself(rows, needed);
        needs_sources(&self.operator, rows, needed);
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(MESSAGE, &self.operator)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * 2 * self.shape.stride(), transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, shape, monitor) = (pass.input(MESSAGE), self.shape, pass.monitor);
        let (source, target) = (pass.parameter(SOURCE), pass.parameter(TARGET));
        attention::scores(pass.input_rows(MESSAGE), shape, x, source, target, &mut self.scores, monitor)?;
        let edges = self.operator.incoming();
        let attend = Attend { shape, edges, x, scores: &self.scores, dropout: pass.mask(self.dropout) };
        attend.run(pass.rows(), pass.finish(), &mut self.alpha, out, monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (f, shape) = (pass.forward, self.shape);
        let (x, sources, monitor) = (f.input(MESSAGE), f.input_rows(MESSAGE), f.monitor);
        let edges = self.operator.incoming();
        let attend = Attend { shape, edges, x, scores: &self.scores, dropout: f.mask(self.dropout) };
        let (alpha, d_scores, d_target) = (&mut self.alpha, &mut self.d_scores, &mut self.d_target);
        d_target.fill(0.0);
        attention::backward_targets(attend, f.rows(), d_out, alpha, d_scores, d_target, monitor)?;
        let Some(mut d_x) = pass.gradient_everywhere(MESSAGE) else { return Ok(()) };
        let backward = BackwardSources {
            shape,
            edges: by_source.outgoing(),
            gradient: d_out,
            alpha,
            d_scores,
            d_target,
            source: f.parameter(SOURCE),
            target: f.parameter(TARGET),
            add: d_x.add,
        };
        backward.run(sources, &mut d_x.values, &mut self.d_source, monitor)?;
        let (partials, _) = pass.scratch();
        let (d_source, d_target, out) = (&self.d_source, &self.d_target, &mut self.d_vectors);
        attention::vector_gradients(sources, shape, x, d_source, d_target, partials, out, monitor)?;
        for (parameter, vector) in [SOURCE, TARGET].into_iter().zip(self.d_vectors.chunks_exact(shape.stride())) {
            pass.parameter_gradient(parameter, |out, _, _| {
                out.copy_from_slice(vector);
                Ok(())
            })?;
        }
        Ok(())
    }
}
