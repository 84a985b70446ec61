//! Graph models and their training, on candle.
//!
//! A run is three plain values: a [`GraphData`] (graph, features, labels), a [`Split`] of its labelled nodes and the
//! [`TrainOptions`] that a [`Job`] resolves to. [`train`] gives the [`Outcome`]: figures of the selected epoch, the
//! outputs for all nodes and the parameters that made them.
//!
//! The hot path is explicit: each model computes forward and backward on preallocated `f32` buffers with the fused
//! sparse kernels of [`kernels`]. Most models write their equations down as a [`program`] of layers, which does that for
//! them; a few are fused by hand. [`candle_ops`] offers the same kernels as candle operations with gradients, for models
//! that are composed under candle's autograd. Everything is deterministic: the same job gives the same bits for any
//! number of threads.
//!
//! On a GPU the same programs of layers run as the kernels of [`device`].
//!
//! Parallelism is that of the rayon pool in which the caller runs: jobs may be tasks of one pool and their kernels
//! tasks of the same pool.

pub mod candle_ops;
mod data;
pub mod device;
mod engine;
mod features;
mod graph_set;
pub mod kernels;
mod links;
pub mod metrics;
pub mod models;
mod optimizer;
mod options;
pub mod program;
pub mod random;
mod registry;
mod sample;
mod saved;
pub mod schedule;
mod split;
mod task;
mod train;

pub use data::{DataError, GraphData};
pub use features::{FeatureSource, Features, Normalize, SparseRows};
pub use graph_set::{GraphSet, Targets};
pub use links::{LinkError, LinkSplit, NonEdges, Pair};
pub use optimizer::{Optimizer, OptimizerKind};
pub use options::{ClassWeights, Decoder, Job, OptionError, Pooling, SelectBy, TASKS, Task, TrainOptions, Value};
pub use registry::{Hyperparameter, Kind, ModelSpec, model, models};
pub use saved::{SaveError, Saved, file_name};
pub use split::{Part, Shares, Split, SplitError, SplitScheme};
pub use train::{EpochRecord, Items, Matrix, Outcome, Status, TrainError, train, train_items, train_items_on};

#[cfg(feature = "sql")]
mod sql;
#[cfg(test)]
mod tests;
#[cfg(feature = "sql")]
pub use sql::functions;
