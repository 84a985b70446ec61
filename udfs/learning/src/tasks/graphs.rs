//! Graph classification and regression: the outputs of a graph's nodes are pooled, and a linear layer reads the result.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::nodes::class_weights;
use super::regression::{error, figures as errors};
use super::{Embedding, Objective, Outputs, Step};
use crate::data::{GraphSet, Part, Split, Targets};
use crate::ground::random::{Dropout, Stream, key};
use crate::ground::{Axis, Initial, Layout, Matrix, padded};
use crate::kernels::RowSet;
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::{Activation, Finish, Gate, column_sums};
use crate::kernels::loss::{nll, weighted_nll_gradient};
use crate::kernels::pooling::{pool, unpool};
use crate::network::zeros;
use crate::options::TrainOptions;
use crate::tasks::metrics::{FigureSet, ItemScores, Metrics};

/// Separates the draw of the batches from other uses of the seed.
const BATCHES: u64 = 8;

/// Separates the stream of the masks of pooled outputs.
const HEAD_DROPOUT: u64 = 16;

/// `z_g = W' drop(pool(outputs of the nodes of g)) + b`, then softmax with negative log-likelihood, or the mean error of
/// numbers, squared or absolute.
pub(crate) struct GraphObjective<'a> {
    set: &'a GraphSet,
    split: &'a Split,
    options: &'a TrainOptions,
    head: Layout,
    n_outputs: usize,
    graph_of: Vec<u32>,
    /// Labels where there are classes.
    labels: Vec<Option<u32>>,
    classes: Vec<u32>,
    weights: Vec<f32>,
    batches: Vec<Batch>,
    epoch: u32,
    pooled: Vec<f32>,
    d_pooled: Vec<f32>,
    logits: Vec<f32>,
    d_logits: Vec<f32>,
    transposed: Vec<f32>,
    partials: Vec<f32>,
}

/// The graphs of a step, and their nodes.
struct Batch {
    graphs: RowSet,
    nodes: RowSet,
}

impl<'a> GraphObjective<'a> {
    /// The graphs of the split have targets.
    pub fn new(
        set: &'a GraphSet,
        split: &'a Split,
        options: &'a TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let (graphs, n) = (set.n_graphs(), set.graph.n_nodes());
        reservation.grow(16 * graphs + 4 * n)?;
        let graph_of = (0..graphs as u32)
            .flat_map(|g| std::iter::repeat_n(g, (set.starts[g as usize + 1] - set.starts[g as usize]) as usize))
            .collect();
        let (labels, n_outputs) = match &set.targets {
            Targets::Classes(labels, classes) => (labels.clone(), *classes),
            targets => (vec![None; graphs], targets.n_outputs()),
        };
        let classes: Vec<u32> = labels.iter().map(|label| label.unwrap_or(u32::MAX)).collect();
        let mut head = Layout::default();
        let (width, outputs) = (Axis::padded(1, options.embedding), Axis::padded(1, n_outputs));
        head.push("head.weight".into(), width, outputs, Initial::glorot(width.len(), outputs.len()));
        head.push("head.bias".into(), Axis::exact(1), outputs, Initial::Zeros);
        let (k, stride) = (width.stride(), outputs.stride());

        // Which graphs share a step is drawn once, so that the index structures of a step are built once.
        let mut order = split.train.clone();
        let size = options.batch.map_or(order.len(), |batch| batch as usize).max(1);
        if size < order.len() {
            Stream::new(key(&[options.seed, BATCHES])).shuffle(&mut order);
        }
        let mut batches = Vec::new();
        for chunk in order.chunks(size) {
            let mut chunk = chunk.to_vec();
            chunk.sort_unstable();
            let nodes: Vec<u32> =
                chunk.iter().flat_map(|&g| set.starts[g as usize]..set.starts[g as usize + 1]).collect();
            reservation.grow(RowSet::bytes(chunk.len()) + RowSet::bytes(nodes.len()))?;
            batches.push(Batch { graphs: RowSet::new(graphs, chunk), nodes: RowSet::new(n, nodes) });
        }
        let blocks = RowSet::new(graphs, Vec::new()).n_blocks();
        Ok(Self {
            weights: match &set.targets {
                Targets::Classes(..) => class_weights(&options.class_weights, &classes, &split.train, n_outputs),
                _ => Vec::new(),
            },
            set,
            split,
            options,
            head,
            n_outputs,
            graph_of,
            labels,
            classes,
            batches,
            epoch: 0,
            pooled: zeros(reservation, graphs * k)?,
            d_pooled: zeros(reservation, graphs * k)?,
            logits: zeros(reservation, graphs * stride)?,
            d_logits: zeros(reservation, graphs * stride)?,
            transposed: zeros(reservation, k * stride)?,
            partials: zeros(reservation, blocks * k * stride)?,
        })
    }

    fn widths(&self) -> (usize, usize) {
        (padded(self.options.embedding), padded(self.n_outputs))
    }
}

/// The outputs of some graphs, with a mask in training.
#[expect(clippy::too_many_arguments, reason = "the operands of two products with their sizes")]
fn read(
    set: &GraphSet,
    options: &TrainOptions,
    head: &Layout,
    graphs: &RowSet,
    dropout: Option<Dropout>,
    outputs: Outputs<'_>,
    pooled: &mut [f32],
    logits: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let (k, stride) = (head.blocks()[0].rows.stride(), head.blocks()[0].columns.stride());
    pool(options.pooling, graphs, &set.starts, outputs.nodes, k, pooled, monitor)?;
    let (weights, bias) = (&outputs.head[head.blocks()[0].range()], &outputs.head[head.blocks()[1].range()]);
    let finish = Finish { bias: Some(bias), ..Finish::NOTHING };
    let left = Left { dropout, ..Left::new(pooled, k) };
    dense::product(graphs, left, weights, stride, Then::Finish(finish), logits, monitor)
}

impl Objective for GraphObjective<'_> {
    fn n_outputs(&self) -> usize {
        self.options.embedding
    }

    fn head(&self) -> &Layout {
        &self.head
    }

    fn batches(&self) -> Vec<Vec<u32>> {
        self.batches.iter().map(|batch| batch.nodes.rows().to_vec()).collect()
    }

    fn batch_items(&self, batch: usize) -> usize {
        self.batches[batch].graphs.len()
    }

    fn nodes(&self, parts: &[Part]) -> Vec<u32> {
        let graphs = self.split.of_parts(parts);
        graphs.iter().flat_map(|&g| self.set.starts[g as usize]..self.set.starts[g as usize + 1]).collect()
    }

    fn begin(&mut self, epoch: u32) -> bool {
        self.epoch = epoch;
        epoch == 1
    }

    fn train(&mut self, batch: usize, step: Step<'_>, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let (k, stride) = self.widths();
        let mask = key(&[self.options.seed, HEAD_DROPOUT, u64::from(self.epoch)]);
        let dropout = Dropout::new(self.options.head_dropout, mask);
        let Self { set, options, head, pooled, d_pooled, logits, d_logits, partials, transposed, .. } = self;
        let Batch { graphs, nodes } = &self.batches[batch];
        read(set, options, head, graphs, dropout, step.outputs, pooled, logits, monitor)?;
        let loss = match &set.targets {
            Targets::Classes(_, classes) => {
                let (labels, weights) = (&self.classes, &self.weights);
                weighted_nll_gradient(graphs, logits, stride, *classes, labels, weights, d_logits, monitor)?
            }
            targets => error(options.loss, graphs, targets, logits, stride, d_logits),
        };
        let (weights, bias) = (head.blocks()[0].range(), head.blocks()[1].range());
        column_sums(graphs, d_logits, stride, partials, &mut step.d_head[bias], monitor)?;
        let d_weights = &mut step.d_head[weights.clone()];
        let left = Left { dropout, ..Left::new(pooled, k) };
        dense::transposed_product(graphs, left, d_logits, stride, partials, d_weights, monitor)?;
        let then = Then::Gate(Gate { output: &pooled[..], activation: Activation::Identity, dropout: dropout.into() });
        let (left, head) = (Left::new(d_logits, stride), &step.outputs.head[weights]);
        dense::product_by_transposed(graphs, left, head, k, transposed, then, d_pooled, monitor)?;
        let (graph_of, starts) = (&self.graph_of, &set.starts);
        unpool(options.pooling, nodes, graph_of, starts, d_pooled, k, step.d_nodes, monitor)?;
        Ok(loss)
    }

    fn score(
        &mut self,
        part: Part,
        outputs: Outputs<'_>,
        figures: FigureSet,
        monitor: &dyn Monitor,
    ) -> Result<(Option<f64>, Metrics), Stopped> {
        let split = self.split;
        let items = split.part(part);
        if items.is_empty() {
            return Ok((None, Metrics::default()));
        }
        let (_, stride) = self.widths();
        let graphs = RowSet::new(self.set.n_graphs(), items.to_vec());
        let Self { set, options, head, pooled, logits, d_logits, .. } = self;
        read(set, options, head, &graphs, None, outputs, pooled, logits, monitor)?;
        match &set.targets {
            Targets::Classes(_, classes) => {
                let loss = nll(&graphs, logits, stride, *classes, &self.classes, monitor)?;
                let scores = ItemScores::padded(logits, stride, &self.labels, *classes, items);
                Ok((Some(loss), scores.figures(figures)))
            }
            targets => {
                let loss = error(options.loss, &graphs, targets, logits, stride, d_logits);
                Ok((Some(loss), errors(items, targets, logits, stride)))
            }
        }
    }

    fn predictions(&mut self, outputs: Outputs<'_>, monitor: &dyn Monitor) -> Result<Matrix, Stopped> {
        let all = RowSet::all(self.set.n_graphs());
        let Self { set, options, head, pooled, logits, .. } = self;
        read(set, options, head, &all, None, outputs, pooled, logits, monitor)?;
        Ok(Matrix::unpadded(&self.logits, all.len(), Axis::padded(1, self.n_outputs)))
    }

    fn embeddings(
        &mut self,
        outputs: &[f32],
        _embedding: Option<Embedding<'_>>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Matrix>, Stopped> {
        let all = RowSet::all(self.set.n_graphs());
        let (k, _) = self.widths();
        let (starts, pooled) = (&self.set.starts, &mut self.pooled);
        pool(self.options.pooling, &all, starts, outputs, k, pooled, monitor)?;
        Ok(Some(Matrix::unpadded(pooled, all.len(), Axis::padded(1, self.options.embedding))))
    }
}
