//! Graph models and their training, on candle.
//!
//! A run is three plain values: a [`GraphData`] (graph, features, labels), a [`Split`] of its labelled nodes and the
//! [`TrainOptions`] that a [`Job`] resolves to. [`train`] gives the [`Outcome`]: figures of the selected epoch, the
//! outputs for all nodes and the parameters that made them.
//!
//! The hot path is explicit: each model computes forward and backward on preallocated `f32` buffers with the fused
//! sparse kernels of [`kernels`]; [`candle_ops`] offers the same kernels as candle operations with gradients, for models
//! that are composed under candle's autograd. Everything is deterministic: the same job gives the same bits for any
//! number of threads.
//!
//! Parallelism is that of the rayon pool in which the caller runs: jobs may be tasks of one pool and their kernels
//! tasks of the same pool.

pub mod candle_ops;
mod data;
mod features;
pub mod kernels;
pub mod metrics;
pub mod models;
mod optimizer;
mod options;
pub mod random;
mod registry;
mod split;
mod train;

pub use data::{DataError, GraphData};
pub use features::{FeatureSource, Features, Normalize, SparseRows};
pub use optimizer::{Optimizer, OptimizerKind};
pub use options::{Job, OptionError, SelectBy, TASKS, Task, TrainOptions, Value};
pub use registry::{Hyperparameter, Kind, ModelSpec, model, models};
pub use split::{Part, Split, SplitError, SplitScheme};
pub use train::{EpochRecord, Matrix, Outcome, Status, TrainError, train};

#[cfg(feature = "sql")]
mod sql;
#[cfg(test)]
mod tests;
#[cfg(feature = "sql")]
pub use sql::functions;
