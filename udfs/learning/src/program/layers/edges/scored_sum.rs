//! Attention whose scores are sums of a number of the target, one of the source and one of the entry, and whose messages may be
//! other rows than those that are scored (Lv et al. 2021, Sec. 5).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::attention::Coefficients;
use super::terms::{EntryTerms, needs_table};
use crate::ground::{Axis, Initial};
use crate::kernels::attention::{self, AttentionShape, MAX_HEADS};
use crate::kernels::edge::{self, EdgeArgs, Gate, PairScores, Store, Total};
use crate::kernels::parallel::for_each_block;
use crate::kernels::{Activation, RowSet};
use crate::network::Operator;
use crate::ops;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{
    Backward, Builder, Forward, Layer, Mask, Parameter, Prepare, Prepared, Scratch, Shapes, Slot, Tensors,
};

/// The inputs of the layer.
const SCORED: usize = 0;
const MESSAGE: usize = 1;
const TABLE: usize = 2;
/// Its parameters: the attention vectors of sources and of targets.
const SOURCE: usize = 0;
const TARGET: usize = 1;

/// `out_i = sum_j dropout(alpha_ij) v_j` with `alpha_i = softmax_j leaky(<a, x_j> + <c, x_i> + u_ij)` head by head, over the
/// entries of an operator, `u` out of a table; zeros for a node without any.
#[derive(Debug)]
struct ScoredSum {
    coefficients: Coefficients,
    terms: EntryTerms,
    slope: f32,
    /// The scalar products of a node with both vectors, `2 * heads` a node.
    products: Vec<f32>,
    /// The scores behind the rectifier, `heads` an entry.
    rectified: Vec<f32>,
    /// `heads` a node.
    d_source: Vec<f32>,
    d_target: Vec<f32>,
    /// The gradients of both vectors.
    d_vectors: Vec<f32>,
}

/// The scores of an attention, which several sums may take.
#[derive(Debug, Clone)]
pub struct PairScore {
    operator: Arc<Operator>,
    rows: Slot,
    vectors: [Parameter; 2],
    terms: EntryTerms,
    table: Slot,
    heads: usize,
    slope: f32,
    dropout: Option<Mask>,
}

impl Builder<'_, '_> {
    /// Scores over the entries of an operator without values, `heads` heads (at most [`MAX_HEADS`]), each with a group of the
    /// columns of `x`. The vectors are the parameters `{name}.source` and `{name}.target`; the terms of entries are those of
    /// `table`, a slot with a column a head. `slope` is that of the leaky rectifier below 0. In training a coefficient is dropped
    /// by the mask, the same in all sums.
    pub fn pair_score(
        &mut self,
        operator: &Arc<Operator>,
        x: Slot,
        name: &str,
        (heads, slope): (usize, f32),
        (terms, table): (EntryTerms, Slot),
        dropout: Option<Mask>,
    ) -> PairScore {
        let axis = self.axis(x);
        debug_assert!((1..=MAX_HEADS).contains(&heads) && self.has_gradient(x));
        debug_assert!(self.axis(table).len() == heads && self.space(table).rows() == terms.rows());
        let initial = Initial::glorot(heads, axis.len() / heads);
        let vectors = ["source", "target"]
            .map(|end| self.parameter(format!("{name}.{end}"), Axis::exact(1), axis, initial.clone()));
        PairScore { operator: Arc::clone(operator), rows: x, vectors, terms, table, heads, slope, dropout }
    }

    /// The sum over a node's entries of the messages, each times its coefficient: `message` has the columns of what is scored.
    ///
    /// # Errors
    /// If the host refuses the memory for the coefficients, at most `16 * heads` bytes an entry, and `16 * heads` a node.
    pub fn scored_sum(&mut self, score: &PairScore, message: Slot) -> Result<Slot, Stopped> {
        let (axis, heads) = (self.axis(message), score.heads);
        debug_assert_eq!(axis, self.axis(score.rows));
        let (n, entries) = (score.operator.n_rows(), score.operator.n_entries());
        let layer = ScoredSum {
            coefficients: Coefficients::new(self, &score.operator, heads, axis, score.dropout)?,
            terms: score.terms.clone(),
            slope: score.slope,
            products: self.zeros(2 * n * heads)?,
            rectified: self.zeros(entries * heads)?,
            d_source: self.zeros(n * heads)?,
            d_target: self.zeros(n * heads)?,
            d_vectors: self.zeros(2 * axis.stride())?,
        };
        let inputs = [score.rows, message, score.table];
        Ok(self.push(layer, &inputs, &score.vectors, self.space(message), axis))
    }
}

impl ScoredSum {
    fn shape(&self) -> AttentionShape {
        let own = self.coefficients.shape;
        AttentionShape { heads: own.heads, dim: own.dim, slope: self.slope }
    }
}

impl Layer for ScoredSum {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let own = &self.coefficients;
        let (x, heads) = (&tensors.inputs[SCORED], own.shape.heads);
        let (n, width) = x.dims2()?;
        let pattern = tensors.operator(&own.operator)?.pattern;
        let dots = |vector: &Tensor| x.broadcast_mul(vector)?.reshape((n, heads, width / heads))?.sum(2);
        let (source, target) = (dots(&tensors.parameters[SOURCE])?, dots(&tensors.parameters[TARGET])?);
        let scores = (pattern.at_targets(&target)? + pattern.at_sources(&source)?)?;
        let scores = (scores + self.terms.candle(tensors, TABLE)?)?;
        let alpha = pattern.softmax(&ops::activate(&scores, Activation::Leaky(self.slope))?)?;
        pattern.sum(&pattern.dropout(&alpha, tensors.mask(own.dropout))?, &tensors.inputs[MESSAGE])
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            TABLE => needs_table(needed),
            MESSAGE => needs_sources(&self.coefficients.operator, rows, needed),
            _ => {
                needs_itself(rows, needed);
                needs_sources(&self.coefficients.operator, rows, needed);
            }
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(MESSAGE, &self.coefficients.operator)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let table = self.terms.partials(shapes.input(TABLE).axis.stride());
        Scratch { partials: shapes.blocks() * table.max(2 * self.shape().stride()), transposed: 0 }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (shape, monitor) = (self.shape(), pass.monitor);
        let (x, source, target) = (pass.input(SCORED), pass.parameter(SOURCE), pass.parameter(TARGET));
        attention::scores(pass.input_rows(SCORED), shape, x, source, target, &mut self.products, monitor)?;
        let own = &mut self.coefficients;
        let (set, heads, operator) = (pass.rows(), shape.heads, Arc::clone(&own.operator));
        let edges = operator.incoming();
        // Those of the sources come first.
        let target = self.products.get(heads..).unwrap_or_default();
        let pairs = PairScores { heads, target, source: &self.products, stride: 2 * heads, gate: Gate::Identity };
        edge::pair_scores(set, edges, pairs, &mut own.alpha, monitor)?;
        self.terms.add(pass, edges, (heads, TABLE), &mut own.alpha)?;
        edge::rectify(set, edges, heads, self.slope, &mut own.alpha, monitor)?;
        self.rectified.copy_from_slice(&own.alpha);
        own.attend(pass, MESSAGE, out)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let (f, shape) = (pass.forward, self.shape());
        let (heads, set, monitor) = (shape.heads, f.rows(), f.monitor);
        let (x, scored) = (f.input(SCORED), f.input_rows(SCORED));
        let own = &mut self.coefficients;
        own.scores_gradient(&f, MESSAGE, 1.0, d_out)?;
        let operator = Arc::clone(&own.operator);
        let (edges, outgoing) = (operator.incoming(), by_source.outgoing());
        edge::through_gate(set, edges, heads, Gate::Leaky(self.slope), &self.rectified, &mut own.d_scores, monitor)?;
        let d = &own.d_scores;
        self.terms.table_gradient(pass, edges, (heads, TABLE), d, 1.0)?;
        self.d_target.fill(0.0);
        let (args, how) = (EdgeArgs { set, edges, monitor }, Store::Replace);
        edge::sum_at_targets(args, heads, d, Total::Sum, how, &mut self.d_target, heads)?;
        let args = EdgeArgs { set: scored, edges: outgoing, monitor };
        edge::sum_at_sources(args, heads, d, how, &mut self.d_source, heads)?;
        let (d_source, d_target) = (&self.d_source, &self.d_target);
        let (partials, _) = pass.scratch();
        attention::vector_gradients(scored, shape, x, d_source, d_target, partials, &mut self.d_vectors, monitor)?;
        for (parameter, vector) in [SOURCE, TARGET].into_iter().zip(self.d_vectors.chunks_exact(shape.stride())) {
            pass.parameter_gradient(parameter, |out, _, _| {
                out.copy_from_slice(vector);
                Ok(())
            })?;
        }
        if let Some(mut d_x) = pass.gradient_everywhere(SCORED) {
            let (add, stride) = (d_x.add, shape.stride());
            let (source, target) = (f.parameter(SOURCE), f.parameter(TARGET));
            for_each_block(scored, &mut d_x.values, stride, monitor, |rows, first, out| {
                for &row in rows {
                    let out = &mut out[(row as usize - first) * stride..][..stride];
                    if !add {
                        out.fill(0.0);
                    }
                    let heads_of = out.chunks_exact_mut(shape.dim).enumerate();
                    for (head, out) in heads_of {
                        let (s, t) = (d_source[row as usize * heads + head], d_target[row as usize * heads + head]);
                        let columns = head * shape.dim..(head + 1) * shape.dim;
                        let vectors = source[columns.clone()].iter().zip(&target[columns]);
                        out.iter_mut().zip(vectors).for_each(|(out, (a, c))| *out += s * a + t * c);
                    }
                }
            })?;
        }
        self.coefficients.message_gradient(pass, outgoing, MESSAGE, d_out)
    }
}
