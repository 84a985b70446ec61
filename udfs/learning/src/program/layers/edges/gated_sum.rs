//! Sums over neighbours whose weights are gates of the two ends of an edge.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::kernels::edge::{self, EdgeArgs, Gate, HeadShape, LabelledEdges, PairScores, Store, Total};
use crate::kernels::{Activation, RowSet};
use crate::network::{Operator, Pass, zeros};
use crate::ops::{self, Curve};
use crate::program::layers::store;
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Builder, Forward, Layer, Mask, Prepare, Prepared, Slot, Tensors};

/// The inputs of the layer.
const TARGET: usize = 0;
const SOURCE: usize = 1;
const MESSAGE: usize = 2;

/// `out_i = sum_j dropout(gate(t_i + s_j)) f_ij x_j` over the entries of an operator, with constant factors `f`; zeros for a
/// node without any. Optionally adds the cross-entropy of the gates, as predictions of equal labels of the two ends, to the
/// loss of training.
#[derive(Debug)]
struct GatedSum {
    operator: Arc<Operator>,
    gate: Gate,
    factors: Vec<f32>,
    dropout: Option<Mask>,
    labels: Option<Labels>,
    /// The gates, what becomes of them, and the gradient of their sums.
    gates: Vec<f32>,
    weights: Vec<f32>,
    d_scores: Vec<f32>,
}

/// The loss of the gates.
#[derive(Debug)]
struct Labels {
    /// Of the training nodes; `u32::MAX` for others.
    known: Vec<u32>,
    /// The factor of the loss.
    weight: f64,
    /// The loss of the last forward pass of training, with its factor.
    penalty: f64,
}

/// The gates of [`Builder::gated_sum`].
#[derive(Debug, Clone)]
pub struct Gates {
    /// The function that the sum of the two numbers of an edge passes.
    pub gate: Gate,
    /// The probability that an edge is dropped in training.
    pub dropout: f64,
    /// The loss by which the gates learn which edges join equal labels, in training. Logistic gates only.
    pub loss: Option<GateLoss>,
}

/// A loss of gates: `weight` times the mean cross-entropy, over the edges whose two ends have a label, of whether these
/// agree.
#[derive(Debug, Clone)]
pub struct GateLoss {
    /// Nodes with their labels.
    pub known: Arc<[(u32, u32)]>,
    /// The factor.
    pub weight: f64,
}

impl Builder<'_, '_> {
    /// `out_i = sum_j dropout(gate(t_i + s_j)) factor(i, j) x_j` over the entries `(i, j)` of an operator without values;
    /// `t` and `s` are the first columns of `target` and `source`, slots with the same columns.
    ///
    /// # Errors
    /// If the host refuses the memory for four numbers an entry, and one a node.
    pub fn gated_sum(
        &mut self,
        operator: &Arc<Operator>,
        factor: impl Fn(u32, u32) -> f32,
        gates: Gates,
        [target, source, message]: [Slot; 3],
    ) -> Result<Slot, Stopped> {
        debug_assert_eq!(self.axis(target), self.axis(source));
        let len = operator.n_entries();
        let mut factors = zeros(self.reservation(), len)?;
        for (i, row) in operator.offsets().windows(2).enumerate() {
            for (out, &j) in factors[row[0]..row[1]].iter_mut().zip(operator.row(i as u32)) {
                *out = factor(i as u32, j);
            }
        }
        let labels = match gates.loss {
            None => None,
            Some(GateLoss { known: pairs, weight }) => {
                self.reservation().grow(size_of::<u32>() * operator.n_rows())?;
                let mut known = vec![u32::MAX; operator.n_rows()];
                pairs.iter().for_each(|&(node, label)| known[node as usize] = label);
                Some(Labels { known, weight, penalty: 0.0 })
            }
        };
        let layer = GatedSum {
            operator: Arc::clone(operator),
            gate: gates.gate,
            factors,
            dropout: self.mask(gates.dropout),
            labels,
            gates: self.zeros(len)?,
            weights: self.zeros(len)?,
            d_scores: self.zeros(len)?,
        };
        let (space, axis) = (self.space(message), self.axis(message));
        Ok(self.push(layer, &[target, source, message], &[], space, axis))
    }
}

impl GatedSum {
    /// The sums to which the gates of the edges are applied.
    fn sums(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let pattern = tensors.operator(&self.operator)?.pattern;
        pattern.at_targets(&tensors.inputs[TARGET])? + pattern.at_sources(&tensors.inputs[SOURCE])?
    }

    fn scores<'a>(&self, pass: &Forward<'a>) -> PairScores<'a> {
        let stride = pass.input_axis(TARGET).stride();
        PairScores { heads: 1, target: pass.input(TARGET), source: pass.input(SOURCE), stride, gate: self.gate }
    }
}

impl Layer for GatedSum {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let pattern = tensors.operator(&self.operator)?.pattern;
        let gates = match self.gate {
            Gate::Identity => self.sums(tensors)?,
            Gate::Tanh => ops::activate(&self.sums(tensors)?, Activation::Tanh)?,
            Gate::Sigmoid => ops::activate(&self.sums(tensors)?, Activation::Sigmoid)?,
            Gate::Leaky(slope) => ops::activate(&self.sums(tensors)?, Activation::Leaky(slope))?,
        };
        let weights = (gates * tensors.constant(&self.factors, self.factors.len(), 1)?)?;
        pattern.sum(&pattern.dropout(&weights, tensors.mask(self.dropout))?, &tensors.inputs[MESSAGE])
    }

    fn candle_penalty(&self, tensors: &Tensors<'_>) -> candle_core::Result<Option<Tensor>> {
        let Some(Labels { known, weight, .. }) = &self.labels else { return Ok(None) };
        // The cross-entropy of a logit z with answer a is softplus(z) - a z.
        let (mut labelled, mut answers) = (vec![0f32; self.factors.len()], vec![0f32; self.factors.len()]);
        for (i, row) in self.operator.offsets().windows(2).enumerate().filter(|(i, _)| known[*i] != u32::MAX) {
            for (entry, &j) in (row[0]..row[1]).zip(self.operator.row(i as u32)) {
                labelled[entry] = f32::from(u8::from(known[j as usize] != u32::MAX));
                answers[entry] = f32::from(u8::from(known[j as usize] == known[i]));
            }
        }
        let count = labelled.iter().sum::<f32>().max(1.0);
        let edges = |values: &[f32]| tensors.of_pass(values, values.len(), 1);
        let z = self.sums(tensors)?;
        let losses = ((ops::activate(&z, Curve::Softplus)? * edges(&labelled)?)? - (z * edges(&answers)?)?)?;
        Ok(Some((losses.sum_keepdim((0, 1))? * (weight / f64::from(count)))?))
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        match input {
            TARGET => needs_itself(rows, needed),
            _ => needs_sources(&self.operator, rows, needed),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.transposed(SOURCE, &self.operator)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (set, edges, monitor) = (pass.rows(), self.operator.incoming(), pass.monitor);
        let scores = self.scores(pass);
        edge::pair_scores(set, edges, scores, &mut self.gates, monitor)?;
        self.weights.copy_from_slice(&self.gates);
        edge::scale_edges(set, edges, &self.factors, &mut self.weights, monitor)?;
        if let Some(mask) = pass.mask(self.dropout) {
            edge::drop_edges(set, edges, 1, mask, &mut self.weights, monitor)?;
        }
        if let Some(labels) = &mut self.labels {
            labels.penalty = match pass.pass() {
                Pass::Evaluate | Pass::Measure => 0.0,
                Pass::Train { .. } => {
                    let labelled = LabelledEdges { edges, labels: &labels.known };
                    labels.weight * labelled.loss(set, labelled.count(set), scores, monitor)?
                }
            };
        }
        let shape = HeadShape { heads: 1, dim: pass.width() };
        let args = EdgeArgs { set, edges, monitor };
        edge::sum_sources(args, shape, &self.weights, pass.input(MESSAGE), Store::Replace, out)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let Prepared::Transposed(by_source) = pass.forward.prepared() else { return Ok(()) };
        let forward = pass.forward;
        let (set, edges, outgoing, monitor) =
            (forward.rows(), self.operator.incoming(), by_source.outgoing(), forward.monitor);
        let (scores, shape) = (self.scores(&forward), HeadShape { heads: 1, dim: forward.width() });
        let d = &mut self.d_scores;
        let args = EdgeArgs { set, edges, monitor };
        edge::dots(args, shape, d_out, forward.input(MESSAGE), 1.0, d)?;
        edge::scale_edges(set, edges, &self.factors, d, monitor)?;
        if let Some(mask) = forward.mask(self.dropout) {
            edge::drop_edges(set, edges, 1, mask, d, monitor)?;
        }
        edge::through_gate(set, edges, 1, self.gate, &self.gates, d, monitor)?;
        if let Some(labels) = &self.labels {
            let labelled = LabelledEdges { edges, labels: &labels.known };
            labelled.add_gradient(set, labelled.count(set), scores, labels.weight, d, monitor)?;
        }
        let stride = scores.stride;
        if let Some(mut gradient) = pass.gradient(TARGET) {
            let (total, how) = (Total::Sum, store(&gradient));
            edge::sum_at_targets(args, 1, d, total, how, &mut gradient.values, stride)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(SOURCE) {
            let (set, how) = (forward.input_rows(SOURCE), store(&gradient));
            let args = EdgeArgs { set, edges: outgoing, monitor };
            edge::sum_at_sources(args, 1, d, how, &mut gradient.values, stride)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(MESSAGE) {
            let (set, how) = (forward.input_rows(MESSAGE), store(&gradient));
            let args = EdgeArgs { set, edges: outgoing, monitor };
            edge::sum_targets(args, shape, &self.weights, d_out, how, &mut gradient.values)?;
        }
        Ok(())
    }

    fn penalty(&self) -> f64 {
        self.labels.as_ref().map_or(0.0, |labels| labels.penalty)
    }
}
