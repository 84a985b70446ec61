//! Graph models and their training.
//!
//! A run is three plain values: the [`Items`] of a task (a [`GraphData`] with a [`Split`] of its labelled nodes, say), the
//! [`TrainOptions`] that a [`Job`] resolves to, and the [`Place`] where it runs. [`train()`] gives the [`Outcome`]: figures of
//! the selected epoch, the outputs for all items and the parameters.
//!
//! ```
//! use bonnet_graph::{Graph, Unmonitored};
//! use bonnet_learning::{Features, GraphData, Items, Job, Place, Split, train};
//!
//! // Two triangles joined by an edge; a class for each triangle, and no features of the nodes.
//! let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]);
//! let labels = (0..6).map(|node| Some(node / 3)).collect();
//! let data = GraphData::new(graph, Features::None, labels, 2)?;
//! let split = Split::given(&data, &[0, 3], &[1, 4], &[2, 5])?;
//!
//! let options = Job::new("gcn").with("features", "identity").with("epochs", 100).resolve()?;
//! let items = Items::Nodes(&data, &split);
//! let outcome = train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {})?;
//!
//! assert_eq!(outcome.test.accuracy, Some(1.0));
//! assert_eq!((outcome.logits.values.len(), outcome.logits.columns), (6 * 2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`models()`] lists the models with their options. A model writes its equations down as a [`program`] of layers, which
//! computes forward and backward on preallocated `f32` buffers with the fused sparse kernels of [`kernels`]; on a GPU the
//! same program runs as its definition says, on candle's tensors. Everything is deterministic: the same job gives the same
//! bits for any number of threads. Each layer is defined once, as an expression of candle's tensors and the [`ops`] that
//! candle lacks: the tests hold its fused passes to that definition, value and gradient.
//!
//! Parallelism is that of the rayon pool in which the caller runs: jobs may be tasks of one pool and their kernels
//! tasks of the same pool.

mod backend;
mod batched;
mod choices;
pub mod complexes;
mod data;
pub mod device;
mod edge_weights;
mod error;
mod features;
mod forms;
mod graph_set;
mod job;
pub mod kernels;
mod links;
mod matrix;
pub mod metrics;
pub mod models;
pub mod network;
pub mod ops;
mod optimizer;
mod option_spec;
mod options;
mod parts;
pub mod program;
pub mod random;
mod registry;
mod sample;
mod sampled;
mod saved;
pub mod schedule;
mod select_by;
pub mod spaces;
mod spec;
mod split;
mod table;
mod task;
mod train;

pub use choices::{ClassWeights, Decoder, Pooling, Task};
pub use data::GraphData;
pub use device::Place;
pub use edge_weights::{EdgeWeights, WeightError};
pub use error::{BuildError, DataError, OptionError, SaveError, Status, TrainError};
pub use features::{FeatureSource, Features, Normalize, SparseRows};
pub use forms::Form;
pub use graph_set::{GraphSet, Targets};
pub use job::Job;
pub use links::{LinkError, LinkSplit, NonEdges, Pair};
pub use matrix::Matrix;
pub use optimizer::{Optimizer, OptimizerKind};
pub use option_spec::{ColumnType, Domain, OptionSpec, Value};
pub use options::TrainOptions;
pub use registry::{model, models};
pub use saved::{Saved, file_name};
pub use select_by::SelectBy;
pub use spec::ModelSpec;
pub use split::{Part, Shares, Split, SplitError, SplitScheme};
pub use table::{DATA_OPTIONS, RUN_OPTIONS, SHARED_OPTIONS};
pub use train::{EpochRecord, Items, Outcome, train};

#[cfg(feature = "sql")]
mod sql;
#[cfg(test)]
mod tests;
#[cfg(feature = "sql")]
pub use sql::functions;
