//! Regression of nodes: a number each, with the mean squared error or the mean absolute one.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::node_batches::NodeBatches;
use super::regression::{error, figures as errors};
use super::{Embedding, Objective, Outputs, Step};
use crate::data::{GraphData, Part, Split, Targets};
use crate::ground::{Axis, Matrix, padded};
use crate::kernels::RowSet;
use crate::network::zeros;
use crate::options::TrainOptions;
use crate::tasks::metrics::{FigureSet, Metrics};

/// The outputs of a node are its numbers; the loss is the mean error, squared or absolute, over the training nodes of a step.
pub(crate) struct NodeValuesObjective<'a> {
    data: &'a GraphData,
    targets: &'a Targets,
    split: &'a Split,
    options: &'a TrainOptions,
    batches: NodeBatches<'a>,
    /// Where the gradient of a loss goes that nobody asked for.
    unread: Vec<f32>,
}

impl<'a> NodeValuesObjective<'a> {
    /// The nodes of the split have targets, which are numbers.
    pub fn new(
        data: &'a GraphData,
        targets: &'a Targets,
        split: &'a Split,
        options: &'a TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let n = data.graph.n_nodes();
        let batches = NodeBatches::new(n, split, options);
        reservation.grow(batches.bytes() + RowSet::bytes(split.val.len()))?;
        let unread = zeros(reservation, n * padded(targets.n_outputs()))?;
        Ok(Self { data, targets, split, options, batches, unread })
    }
}

impl Objective for NodeValuesObjective<'_> {
    fn n_outputs(&self) -> usize {
        self.targets.n_outputs()
    }

    fn fitted(&self) -> Option<(&[u32], Vec<f64>)> {
        let numbers = |&item: &u32| self.targets.numbers(item).iter().copied();
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
        monitor.check()?;
        let stride = padded(self.targets.n_outputs());
        Ok(error(self.options.loss, self.batches.step(batch), self.targets, step.outputs.nodes, stride, step.d_nodes))
    }

    fn score(
        &mut self,
        part: Part,
        outputs: Outputs<'_>,
        _figures: FigureSet,
        monitor: &dyn Monitor,
    ) -> Result<(Option<f64>, Metrics), Stopped> {
        monitor.check()?;
        let nodes = self.split.part(part);
        if nodes.is_empty() {
            return Ok((None, Metrics::default()));
        }
        let stride = padded(self.targets.n_outputs());
        let rows = RowSet::new(self.data.graph.n_nodes(), nodes.to_vec());
        let loss = error(self.options.loss, &rows, self.targets, outputs.nodes, stride, &mut self.unread);
        Ok((Some(loss), errors(nodes, self.targets, outputs.nodes, stride)))
    }

    fn predictions(&mut self, outputs: Outputs<'_>, _monitor: &dyn Monitor) -> Result<Matrix, Stopped> {
        Ok(Matrix::unpadded(outputs.nodes, self.data.graph.n_nodes(), Axis::padded(1, self.targets.n_outputs())))
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
}
