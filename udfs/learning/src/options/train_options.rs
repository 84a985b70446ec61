//! The options of a run, resolved: every one has its value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    ClassWeights, Decay, Decoder, Encodings, EvaluateOn, FanoutOrder, FeatureSource, Featureless, ModelOptions,
    Negatives, Normalize, OptimizerKind, Pooling, RegressionLoss, SamplerKind, SelectBy, Task, Value,
};

/// The default of options that count from 1.
fn one() -> u32 {
    1
}

/// The options of a run, each with its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainOptions {
    /// A name of [`crate::models()`].
    pub model: String,
    /// The task.
    pub task: Task,
    /// Draws initial weights, dropout masks and random features.
    pub seed: u64,
    /// The largest number of epochs.
    pub epochs: u32,
    /// Stops after so many epochs without improvement.
    pub patience: Option<u32>,
    /// The figure that selects the epoch.
    pub select_by: SelectBy,
    /// The learning rate.
    pub lr: f64,
    /// The weight decay.
    pub weight_decay: f64,
    /// The optimiser.
    pub optimizer: OptimizerKind,
    /// The width of the hidden layers (of one head, where there are heads).
    pub hidden: usize,
    /// The number of layers, the last one included.
    pub layers: usize,
    /// The probability that an input of a layer is dropped in training.
    pub dropout: f64,
    /// The input of the first layer.
    pub features: FeatureSource,
    /// What nodes of a type without features have, where others have some.
    #[serde(default)]
    pub featureless: Featureless,
    /// Whether its rows are normalised.
    pub normalize: Normalize,
    /// The positional encodings beside it.
    #[serde(default)]
    pub encodings: Encodings,
    /// The learning rate over the epochs.
    pub schedule: Decay,
    /// The epochs in which the learning rate grows to its value.
    pub warmup: u32,
    /// The largest norm of the gradient.
    pub clip: Option<f64>,
    /// The weights of the classes in the training loss.
    pub class_weights: ClassWeights,
    /// What a regression makes small.
    #[serde(default)]
    pub loss: RegressionLoss,
    /// The width of a node's output where the task reads embeddings.
    pub embedding: usize,
    /// The score of a pair of nodes.
    pub decoder: Decoder,
    /// When training pairs without an edge are drawn.
    #[serde(default)]
    pub negatives: Negatives,
    /// The pooling of the nodes' outputs into a vector of their graph.
    pub pooling: Pooling,
    /// The probability that an entry of that vector is dropped in training.
    #[serde(default)]
    pub head_dropout: f64,
    /// The probability that the class of a training node is an input in a pass of training; 0 where none ever is.
    #[serde(default)]
    pub label_rate: f64,
    /// The graphs of a step; all if none.
    pub batch: Option<u32>,
    /// The training nodes of a step, which then runs on a sample of their neighbours; all, on the whole graph, if none.
    #[serde(default)]
    pub batch_nodes: Option<u32>,
    /// With `batch_nodes`, the largest number of sampled neighbours of a node, for each number of edges from the step's
    /// nodes; [`u32::MAX`] for all. Empty without.
    #[serde(default)]
    pub fanout: Vec<u32>,
    /// What `fanout` counts: neighbours of a node, or nodes of a type.
    #[serde(default)]
    pub sampler: SamplerKind,
    /// With `batch_nodes`, what passes without training run on.
    #[serde(default)]
    pub evaluate_on: EvaluateOn,
    /// With `batch_nodes`, the most steps of an epoch; all if none.
    #[serde(default)]
    pub epoch_steps: Option<u32>,
    /// How many steps' gradients are added up before the parameters move.
    #[serde(default = "one")]
    pub accumulate: u32,
    /// Which neighbours of a row these are, for items of a graph.
    #[serde(default)]
    pub fanout_order: FanoutOrder,
    /// The wavelengths of the code of the time between a row and an item that sees it.
    #[serde(default)]
    pub relative_time: usize,
    /// The model's own hyperparameters, every one of them.
    pub hyperparameters: BTreeMap<String, Value>,
    /// Whether each epoch's record carries test figures too (for curves; they never influence the run).
    pub test_each_epoch: bool,
    /// Whether each epoch's record carries every figure of the task, not only those that select.
    pub every_figure: bool,
    /// Whether the outcome carries the last hidden representation of every node.
    pub keep_embeddings: bool,
}

impl TrainOptions {
    /// What the model reads of them.
    pub fn of_model(&self) -> ModelOptions<'_> {
        ModelOptions {
            model: &self.model,
            task: self.task,
            seed: self.seed,
            hidden: self.hidden,
            layers: self.layers,
            dropout: self.dropout,
            embedding: self.embedding,
            label_rate: self.label_rate,
            encodings: self.encodings.columns(),
            keep_embeddings: self.keep_embeddings,
            hyperparameters: &self.hyperparameters,
        }
    }

    /// Whether the model reads which end of an edge is its tail.
    pub fn reads_arcs(&self) -> bool {
        self.of_model().reads_arcs()
    }

    /// Whether messages are weighed by the weights of the edges.
    pub fn reads_weights(&self) -> bool {
        self.of_model().reads_weights()
    }
}
