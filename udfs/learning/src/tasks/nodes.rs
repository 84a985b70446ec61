//! Node classification: softmax with negative log-likelihood on labelled nodes.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::node_batches::NodeBatches;
use super::{DeviceTask, Embedding, Objective, Outputs, Step};
use crate::data::{GraphData, Part, Split};
use crate::ground::{Axis, Matrix, padded};
use crate::kernels::RowSet;
use crate::kernels::loss::{nll, weighted_nll_gradient};
use crate::options::{ClassWeights, TrainOptions};
use crate::tasks::metrics::{FigureSet, ItemScores, Metrics};

pub(crate) struct NodeObjective<'a> {
    data: &'a GraphData,
    split: &'a Split,
    /// `u32::MAX` where there is none; never read there.
    labels: Vec<u32>,
    weights: Vec<f32>,
    batches: NodeBatches<'a>,
    val: RowSet,
}

impl<'a> NodeObjective<'a> {
    /// The nodes of the split are labelled.
    pub fn new(
        data: &'a GraphData,
        split: &'a Split,
        options: &'a TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let n = data.graph.n_nodes();
        let batches = NodeBatches::new(n, split, options);
        reservation.grow(4 * n + batches.bytes() + RowSet::bytes(split.val.len()))?;
        let labels: Vec<u32> = data.labels.iter().map(|label| label.unwrap_or(u32::MAX)).collect();
        Ok(Self {
            data,
            split,
            weights: class_weights(&options.class_weights, &labels, &split.train, data.n_classes),
            labels,
            batches,
            val: RowSet::new(n, split.val.clone()),
        })
    }
}

/// The weight of each class; empty for none. Classes without training item have no weight and need none.
pub(super) fn class_weights(weights: &ClassWeights, labels: &[u32], train: &[u32], n_classes: usize) -> Vec<f32> {
    match weights {
        ClassWeights::None => return Vec::new(),
        ClassWeights::Given(weights) => return weights.iter().map(|&weight| weight as f32).collect(),
        ClassWeights::Balanced => {}
    }
    let mut counts = vec![0usize; n_classes];
    train.iter().for_each(|&item| counts[labels[item as usize] as usize] += 1);
    let present = counts.iter().filter(|&&count| count > 0).count();
    let weight = |&count: &usize| match count {
        0 => 0.0,
        count => (train.len() as f64 / (present * count) as f64) as f32,
    };
    counts.iter().map(weight).collect()
}

impl Objective for NodeObjective<'_> {
    fn n_outputs(&self) -> usize {
        self.data.n_classes
    }

    fn known_labels(&self) -> Vec<(u32, u32)> {
        self.split.train.iter().map(|&v| (v, self.labels[v as usize])).collect()
    }

    fn fitted(&self) -> Option<(&[u32], Vec<f64>)> {
        let numbers = |&v: &u32| {
            let class = self.labels[v as usize] as usize;
            (0..self.data.n_classes).map(move |other| if other == class { 1.0 } else { -1.0 })
        };
        Some((&self.split.train, self.split.train.iter().flat_map(numbers).collect()))
    }

    fn batches(&self) -> Vec<Vec<u32>> {
        self.batches.nodes()
    }

    fn batch_items(&self, batch: usize) -> usize {
        self.batches.step(batch).len()
    }

    /// The nodes of each step are redrawn each epoch.
    fn begin(&mut self, epoch: u32) -> bool {
        self.batches.begin(epoch)
    }

    fn nodes(&self, parts: &[Part]) -> Vec<u32> {
        self.split.of_parts(parts)
    }

    fn train(&mut self, batch: usize, step: Step<'_>, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let (classes, stride) = (self.data.n_classes, padded(self.data.n_classes));
        let (logits, labels, weights) = (step.outputs.nodes, &self.labels, &self.weights);
        let rest;
        let mut asked = self.batches.step(batch);
        if !step.label_inputs.is_empty() {
            let is_given = |node: &u32| step.label_inputs.binary_search(node).is_ok();
            let (given, others): (Vec<u32>, Vec<u32>) = asked.rows().iter().partition(|node| is_given(node));
            given.iter().for_each(|&node| step.d_nodes[node as usize * stride..][..stride].fill(0.0));
            rest = RowSet::new(asked.n_rows(), others);
            asked = &rest;
        }
        weighted_nll_gradient(asked, logits, stride, classes, labels, weights, step.d_nodes, monitor)
    }

    fn score(
        &mut self,
        part: Part,
        outputs: Outputs<'_>,
        figures: FigureSet,
        monitor: &dyn Monitor,
    ) -> Result<(Option<f64>, Metrics), Stopped> {
        let nodes = self.split.part(part);
        if nodes.is_empty() {
            return Ok((None, Metrics::default()));
        }
        let (classes, stride) = (self.data.n_classes, padded(self.data.n_classes));
        let loss = match part {
            Part::Val => Some(nll(&self.val, outputs.nodes, stride, classes, &self.labels, monitor)?),
            _ => None,
        };
        let scores = ItemScores::padded(outputs.nodes, stride, &self.data.labels, classes, nodes);
        Ok((loss, scores.figures(figures)))
    }

    fn predictions(&mut self, outputs: Outputs<'_>, _monitor: &dyn Monitor) -> Result<Matrix, Stopped> {
        Ok(Matrix::unpadded(outputs.nodes, self.data.graph.n_nodes(), Axis::padded(1, self.data.n_classes)))
    }

    fn embeddings(
        &mut self,
        _outputs: &[f32],
        embedding: Option<Embedding<'_>>,
        _monitor: &dyn Monitor,
    ) -> Result<Option<Matrix>, Stopped> {
        let n = self.data.graph.n_nodes();
        Ok(embedding.map(|(values, columns)| Matrix::unpadded(values, n, columns)))
    }

    fn on_device(&self) -> Option<DeviceTask<'_>> {
        let (labels, weights, classes) = (&self.labels, &self.weights, self.data.n_classes);
        Some(DeviceTask { split: self.split, labels, weights, classes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_weights_equal_those_of_scikit_learn() {
        // compute_class_weight('balanced', classes=[0, 1, 3], y=[0, 0, 0, 1, 1, 3]) = [2/3, 1, 2]; class 2 has no item.
        let labels = [0, 0, 0, 1, 1, 3, 2];
        let weights = class_weights(&ClassWeights::Balanced, &labels, &[0, 1, 2, 3, 4, 5], 4);
        assert_eq!(weights, [2.0 / 3.0, 1.0, 0.0, 2.0]);
        assert!(class_weights(&ClassWeights::None, &labels, &[0], 4).is_empty());
    }
}
