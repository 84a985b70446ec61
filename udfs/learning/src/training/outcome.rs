//! What a run comes to.

use crate::ground::Matrix;
use crate::tasks::metrics::Metrics;

/// The losses and figures of an epoch: a row of a training curve.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochRecord {
    /// Counted from 1.
    pub epoch: u32,
    /// The training loss before the step, with dropout.
    pub train_loss: f64,
    /// The validation loss after the step, without class weights; none without validation items.
    pub val_loss: Option<f64>,
    /// The validation figures after the step: the accuracy where there are classes, and the figure that selects; every one
    /// if [`crate::TrainOptions::every_figure`].
    pub val: Metrics,
    /// The same test figures after the step, if [`crate::TrainOptions::test_each_epoch`].
    pub test: Metrics,
    /// Whether this is the best epoch so far.
    pub selected: bool,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The selected epoch, counted from 1; the last one where there are no validation items, 0 where no epoch ran.
    pub best_epoch: u32,
    /// The number of epochs that ran.
    pub epochs_run: u32,
    /// The figures of the validation part in the selected epoch.
    pub val: Metrics,
    /// The figures of the test part in the selected epoch.
    pub test: Metrics,
    /// The number of parameters.
    pub parameters: usize,
    /// Seconds of preparation and training, validation included.
    pub train_seconds: f64,
    /// Seconds of the final pass over all nodes and its figures.
    pub test_seconds: f64,
    /// The bytes that the run reserved, and those that it held on a device.
    pub peak_memory: usize,
    /// The device of the run: `cpu` or `cuda`.
    pub device: &'static str,
    /// The number of runs that were trained side by side, this one among them: 1 for a run alone.
    pub trained_together: usize,
    /// The outputs of the selected epoch, a row an item: for every node, or every graph, the logits of the classes; for
    /// every pair of [`crate::LinkSplit::pairs`] its logit; for every node or graph of a regression its value.
    pub logits: Matrix,
    /// Vectors of the selected epoch, if [`crate::TrainOptions::keep_embeddings`]: the last hidden representation of every node
    /// (none for a model of one layer); in link prediction the output of every node, in graph tasks the pooled outputs of
    /// every graph.
    pub embeddings: Option<Matrix>,
    /// Where the embeddings are points of a curved space, or of a product: the metric of their coordinates with its
    /// curvatures, as `embedding_distortion` takes it ([`crate::spaces::Space::text`]).
    pub geometry: Option<String>,
    /// The selected parameters: name, rows, columns, values row by row. Behind them the means and deviations of the features,
    /// where these are standardised.
    pub weights: Vec<(String, Matrix)>,
}
