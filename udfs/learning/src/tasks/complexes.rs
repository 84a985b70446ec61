//! Classification and regression of complexes: a model on complexes has the answer's row of each itself.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::nodes::class_weights;
use super::regression::{error, figures as errors};
use super::{Embedding, Objective, Outputs, Step};
use crate::data::{ComplexSet, Part, Split, Targets};
use crate::ground::random::{Stream, key};
use crate::ground::{Axis, Matrix, padded};
use crate::kernels::RowSet;
use crate::kernels::loss::{nll, weighted_nll_gradient};
use crate::options::{RegressionLoss, TrainOptions};
use crate::tasks::metrics::{FigureSet, ItemScores, Metrics};

/// Separates the draw of the batches from other uses of the seed: as for graphs.
const BATCHES: u64 = 8;

/// Softmax with negative log-likelihood, or the mean error of numbers, squared or absolute.
pub(crate) struct ComplexObjective<'a> {
    set: &'a ComplexSet,
    split: &'a Split,
    /// Labels where there are classes.
    labels: Vec<Option<u32>>,
    classes: Vec<u32>,
    weights: Vec<f32>,
    loss: RegressionLoss,
    batches: Vec<RowSet>,
    /// Where the loss of a part leaves its gradient.
    unread: Vec<f32>,
}

impl<'a> ComplexObjective<'a> {
    /// The complexes of the split have targets.
    pub fn new(
        set: &'a ComplexSet,
        split: &'a Split,
        options: &TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let n = set.len();
        let mut order = split.train.clone();
        let size = options.batch.map_or(order.len(), |batch| batch as usize).max(1);
        let of_numbers = !matches!(set.targets, Targets::Classes(..));
        let unread = if of_numbers { n * padded(set.targets.n_outputs()) } else { 0 };
        reservation.grow(16 * n + 8 * order.len() + order.len().div_ceil(size) * RowSet::bytes(0) + 4 * unread)?;
        let (labels, n_classes) = match &set.targets {
            Targets::Classes(labels, classes) => (labels.clone(), *classes),
            Targets::Values(_) | Targets::Vectors(..) => (vec![None; n], 0),
        };
        let classes: Vec<u32> = labels.iter().map(|label| label.unwrap_or(u32::MAX)).collect();
        let weights = if of_numbers {
            Vec::new()
        } else {
            class_weights(&options.class_weights, &classes, &split.train, n_classes)
        };
        // Which complexes share a step is drawn once.
        if size < order.len() {
            Stream::new(key(&[options.seed, BATCHES])).shuffle(&mut order);
        }
        let batch = |complexes: &mut [u32]| {
            complexes.sort_unstable();
            RowSet::new(n, complexes.to_vec())
        };
        let batches = order.chunks_mut(size).map(batch).collect();
        Ok(Self { set, split, labels, classes, weights, loss: options.loss, batches, unread: vec![0.0; unread] })
    }

    fn stride(&self) -> usize {
        padded(self.set.targets.n_outputs())
    }
}

impl Objective for ComplexObjective<'_> {
    fn n_outputs(&self) -> usize {
        self.set.targets.n_outputs()
    }

    fn batches(&self) -> Vec<Vec<u32>> {
        self.batches.iter().map(|batch| batch.rows().to_vec()).collect()
    }

    fn batch_items(&self, batch: usize) -> usize {
        self.batches[batch].len()
    }

    fn nodes(&self, parts: &[Part]) -> Vec<u32> {
        self.split.of_parts(parts)
    }

    fn train(&mut self, batch: usize, step: Step<'_>, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let (stride, outputs, items) = (self.stride(), step.outputs.nodes, &self.batches[batch]);
        match &self.set.targets {
            Targets::Classes(_, n) => {
                let (labels, weights) = (&self.classes, &self.weights);
                weighted_nll_gradient(items, outputs, stride, *n, labels, weights, step.d_nodes, monitor)
            }
            targets => Ok(error(self.loss, items, targets, outputs, stride, step.d_nodes)),
        }
    }

    fn score(
        &mut self,
        part: Part,
        outputs: Outputs<'_>,
        figures: FigureSet,
        monitor: &dyn Monitor,
    ) -> Result<(Option<f64>, Metrics), Stopped> {
        let (split, stride) = (self.split, self.stride());
        let items = split.part(part);
        if items.is_empty() {
            return Ok((None, Metrics::default()));
        }
        let rows = RowSet::new(self.set.len(), items.to_vec());
        match &self.set.targets {
            Targets::Classes(_, n) => {
                let loss = nll(&rows, outputs.nodes, stride, *n, &self.classes, monitor)?;
                let scores = ItemScores::padded(outputs.nodes, stride, &self.labels, *n, items);
                Ok((Some(loss), scores.figures(figures)))
            }
            targets => {
                let loss = error(self.loss, &rows, targets, outputs.nodes, stride, &mut self.unread);
                Ok((Some(loss), errors(items, targets, outputs.nodes, stride)))
            }
        }
    }

    fn predictions(&mut self, outputs: Outputs<'_>, _monitor: &dyn Monitor) -> Result<Matrix, Stopped> {
        Ok(Matrix::unpadded(outputs.nodes, self.set.len(), Axis::padded(1, self.set.targets.n_outputs())))
    }

    fn embeddings(
        &mut self,
        _outputs: &[f32],
        embedding: Option<Embedding<'_>>,
        _monitor: &dyn Monitor,
    ) -> Result<Option<Matrix>, Stopped> {
        Ok(embedding.map(|(values, columns)| Matrix::unpadded(values, self.set.len(), columns)))
    }
}
