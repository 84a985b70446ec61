//! Link prediction: binary cross-entropy on pairs of nodes, edges against negative pairs, redrawn each epoch.

use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::{Embedding, Objective, Outputs, Step};
use crate::data::{LinkSplit, NonEdges, Part};
use crate::ground::{Axis, Matrix, padded};
use crate::kernels::pairs::{self, PairLoss};
use crate::options::{Negatives, SelectBy, TrainOptions};
use crate::spaces::{self, Space};
use crate::tasks::metrics::{FigureSet, Metrics, auc, average_precision};

/// The outputs of the model are the vectors that the decoder reads. Training pairs without an edge are uniform among
/// those of the graph of training edges, as many as there are training edges: held-out edges may be among them, since
/// training knows nothing of those. They are drawn in every epoch or once, or the split gives them.
pub(crate) struct LinkObjective<'a> {
    split: &'a LinkSplit,
    options: &'a TrainOptions,
    graph: &'a Graph,
    free: NonEdges<'a>,
    /// The training edges, then the pairs of the epoch.
    pairs: Vec<(u32, u32)>,
    loss: PairLoss,
    logits: Vec<f64>,
    /// Where the outputs are points.
    space: Option<Space>,
}

impl<'a> LinkObjective<'a> {
    /// `graph` is that of the training edges; some pair of its nodes is no edge.
    pub fn new(
        graph: &'a Arc<Graph>,
        split: &'a LinkSplit,
        options: &'a TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let (n, positives) = (graph.n_nodes(), split.train.len());
        let held_out = split.pairs().count();
        let all = positives + if split.train_non_edges.is_empty() { positives } else { split.train_non_edges.len() };
        reservation.grow(8 * (n + 1) + 8 * all + PairLoss::bytes(n, all) + 8 * held_out)?;
        let mut pairs = [split.train.as_slice(), &split.train_non_edges].concat();
        pairs.resize(all, (0, 0));
        Ok(Self {
            split,
            options,
            graph,
            free: NonEdges::new(graph),
            pairs,
            loss: PairLoss::new(n, all),
            logits: vec![0.0; held_out],
            space: None,
        })
    }

    /// The logits of edges, then of pairs that are none.
    fn scores(
        &mut self,
        edges: &[(u32, u32)],
        others: &[(u32, u32)],
        outputs: Outputs<'_>,
        monitor: &dyn Monitor,
    ) -> Result<&[f64], Stopped> {
        let (decoder, stride) = (self.options.decoder, padded(self.options.embedding));
        let logits = &mut self.logits[..edges.len() + others.len()];
        let (first, second) = logits.split_at_mut(edges.len());
        if let Some(space) = &self.space {
            spaces::pairs::logits(space, edges, outputs.nodes, first, monitor)?;
            spaces::pairs::logits(space, others, outputs.nodes, second, monitor)?;
            return Ok(logits);
        }
        pairs::logits(decoder, edges, outputs.nodes, stride, first, monitor)?;
        pairs::logits(decoder, others, outputs.nodes, stride, second, monitor)?;
        Ok(logits)
    }
}

impl Objective for LinkObjective<'_> {
    fn n_outputs(&self) -> usize {
        self.options.embedding
    }

    fn set_space(&mut self, space: Option<&Space>) {
        self.space = space.cloned();
    }

    fn batches(&self) -> Vec<Vec<u32>> {
        // A pair of an epoch may have any node.
        vec![(0..self.graph.n_nodes() as u32).collect()]
    }

    fn batch_items(&self, _batch: usize) -> usize {
        self.pairs.len()
    }

    fn nodes(&self, parts: &[Part]) -> Vec<u32> {
        let mut nodes: Vec<u32> = parts
            .iter()
            .flat_map(|&part| <[_; 2]>::from(self.split.part(part)))
            .flat_map(|pairs| pairs.iter().flat_map(|&(u, v)| [u, v]))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn begin(&mut self, epoch: u32) -> bool {
        let drawn = self.options.negatives == Negatives::EachEpoch || epoch == 1;
        if self.split.train_non_edges.is_empty() && drawn {
            self.free.draw(&mut self.pairs[self.split.train.len()..], self.options.seed, epoch);
        }
        // Their nodes may be any: the step reads all.
        epoch == 1
    }

    fn train(&mut self, _batch: usize, step: Step<'_>, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let (decoder, stride) = (self.options.decoder, padded(self.options.embedding));
        let (edges, x) = (self.split.train.len(), step.outputs.nodes);
        if let Some(space) = &self.space {
            return spaces::pairs::loss(space, &self.pairs, edges, x, step.d_nodes, monitor);
        }
        self.loss.gradient(decoder, &self.pairs, edges, x, stride, step.d_nodes, monitor)
    }

    fn score(
        &mut self,
        part: Part,
        outputs: Outputs<'_>,
        figures: FigureSet,
        monitor: &dyn Monitor,
    ) -> Result<(Option<f64>, Metrics), Stopped> {
        let split = self.split;
        let (edges, others) = split.part(part);
        if edges.is_empty() {
            return Ok((None, Metrics::default()));
        }
        let positive: Vec<bool> = (0..edges.len() + others.len()).map(|at| at < edges.len()).collect();
        let logits = self.scores(edges, others, outputs, monitor)?;
        let losses = logits.iter().zip(&positive).map(|(&logit, &positive)| pairs::cross_entropy(logit, positive));
        let loss = losses.sum::<f64>() / positive.len() as f64;
        let figure = |selects: SelectBy, of: &dyn Fn() -> Option<f64>| {
            if matches!(figures, FigureSet::Selecting(other) if other != selects) { None } else { of() }
        };
        let metrics = Metrics {
            auc: figure(SelectBy::Auc, &|| auc(&positive, logits)),
            ap: figure(SelectBy::Ap, &|| average_precision(&positive, logits)),
            ..Metrics::default()
        };
        Ok((Some(loss), metrics))
    }

    fn predictions(&mut self, outputs: Outputs<'_>, monitor: &dyn Monitor) -> Result<Matrix, Stopped> {
        let all: Vec<(u32, u32)> = self.split.pairs().map(|(pair, ..)| pair).collect();
        let logits = self.scores(&all, &[], outputs, monitor)?;
        Ok(Matrix { columns: 1, values: logits.iter().map(|&logit| logit as f32).collect() })
    }

    fn embeddings(
        &mut self,
        outputs: &[f32],
        _embedding: Option<Embedding<'_>>,
        _monitor: &dyn Monitor,
    ) -> Result<Option<Matrix>, Stopped> {
        let columns = self.space.as_ref().map_or(self.options.embedding, Space::columns);
        let columns = Axis::padded(1, columns);
        Ok(Some(Matrix::unpadded(outputs, self.graph.n_nodes(), columns)))
    }
}
