//! The tasks, one file each. The loop in `training` depends on [`Objective`] alone.

use std::sync::LazyLock;

use bonnet_graph::{Monitor, Stopped};

use crate::data::{Part, Split};
use crate::ground::{Axis, Layout, Matrix};
use crate::spaces::Space;
use metrics::{FigureSet, Metrics};

mod complexes;
mod graphs;
mod links;
pub mod metrics;
mod node_batches;
mod node_values;
mod nodes;
mod regression;

pub(crate) use complexes::ComplexObjective;
pub(crate) use graphs::GraphObjective;
pub(crate) use links::LinkObjective;
pub(crate) use node_values::NodeValuesObjective;
pub(crate) use nodes::NodeObjective;

/// A task over the outputs of a model, one row of [`crate::ground::padded`] columns a node.
pub(crate) trait Objective {
    /// The number of outputs of a node that the task reads.
    fn n_outputs(&self) -> usize;

    /// Says which space the rows of the outputs are points of.
    fn set_space(&mut self, _space: Option<&Space>) {}

    /// The training nodes with their classes, which a model may read; none where nodes have no classes.
    fn known_labels(&self) -> Vec<(u32, u32)> {
        Vec::new()
    }

    /// The training items with a number for each output, an item's in turn, which a model that is solved for fits: of classes 1 for
    /// the item's and -1 for the others. None of other tasks than those of nodes.
    fn fitted(&self) -> Option<(&[u32], Vec<f64>)> {
        None
    }

    /// The task's own parameters; they follow those of the model in the flat vectors. None by default.
    fn head(&self) -> &Layout {
        static NOTHING: LazyLock<Layout> = LazyLock::new(Layout::default);
        &NOTHING
    }

    /// The nodes whose outputs the steps of an epoch read, in ascending order; one entry a step. After [`Objective::begin`].
    fn batches(&self) -> Vec<Vec<u32>>;

    /// The number of items of a step, by which its loss counts in the epoch's.
    fn batch_items(&self, batch: usize) -> usize;

    /// The nodes whose outputs the figures of some parts read, in ascending order.
    fn nodes(&self, parts: &[Part]) -> Vec<u32>;

    /// Draws what is new in an epoch, from 1; says whether the batches are others than before.
    fn begin(&mut self, epoch: u32) -> bool {
        epoch == 1
    }

    /// The mean training loss of a step, and its gradients.
    fn train(&mut self, batch: usize, step: Step<'_>, monitor: &dyn Monitor) -> Result<f64, Stopped>;

    /// The mean loss of a part, none where it is empty, and its figures.
    fn score(
        &mut self,
        part: Part,
        outputs: Outputs<'_>,
        figures: FigureSet,
        monitor: &dyn Monitor,
    ) -> Result<(Option<f64>, Metrics), Stopped>;

    /// The model's output for each item, one row each.
    fn predictions(&mut self, outputs: Outputs<'_>, monitor: &dyn Monitor) -> Result<Matrix, Stopped>;

    /// The vector of every node, or of every graph where the items are graphs; none where the model has none.
    fn embeddings(
        &mut self,
        outputs: &[f32],
        embedding: Option<Embedding<'_>>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Matrix>, Stopped>;

    /// The task in numbers that a device can hold, if its loss has kernels there.
    fn on_device(&self) -> Option<DeviceTask<'_>> {
        None
    }
}

/// The input of a model's last layer, with its columns.
pub(crate) type Embedding<'a> = (&'a [f32], Axis);

/// Classification of nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceTask<'a> {
    /// The nodes of the parts.
    pub split: &'a Split,
    /// Of every node; not read where there is none.
    pub labels: &'a [u32],
    /// Of each class in the training loss; empty for none.
    pub weights: &'a [f32],
    /// The number of classes.
    pub classes: usize,
}

/// The outputs of a forward pass, and the parameters of the task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outputs<'a> {
    /// Nodes x stored columns.
    pub nodes: &'a [f32],
    /// As [`Objective::head`] lays them out.
    pub head: &'a [f32],
}

/// A training step: what it reads, and where its gradients go.
pub(crate) struct Step<'a> {
    pub outputs: Outputs<'a>,
    /// The nodes whose classes the model reads in this step, ascending: the loss leaves them out.
    pub label_inputs: &'a [u32],
    /// Rows of the step's nodes are written.
    pub d_nodes: &'a mut [f32],
    pub d_head: &'a mut [f32],
}
