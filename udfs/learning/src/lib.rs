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
//!
//! # Floors
//!
//! 1. `ground`: axes, layouts and blocks of parameters, matrices, points, random numbers and initial values, errors
//! 2. `options`: what can be asked of a run: declarations, jobs, resolved options
//! 3. `kernels`: fused passes over rows and edges, in `f32`
//! 4. `spaces`, `optimizer`, `ops`: curved spaces; steps of parameters; operations on candle's tensors
//! 5. `data`: features, their alignment, graphs, sets of graphs and of complexes with their targets, splits
//! 6. `network`: what carries messages: edges, samples of them, sparse operators, scopes of a pass, the trait of models
//! 7. `complexes`: batches of complexes and their operators
//! 8. `program`: layers, those of curved spaces among them, and the programs made of them
//! 9. `models`: a file each in a folder of its family, with the options that are a model's own; problems, jobs resolved
//! 10. `tasks`, `protocols`: objectives and figures; the settings of published tables
//! 11. `training`: the loop over epochs, steps on batches and samples, devices, saved parameters
//! 12. `sql`: the functions of SQL
//!
//! A module imports from lower floors alone, and from a module of its own floor where no circle arises.
//!
//! A typed graph, many graphs, and items with a time are values of `data`; the relations of a typed graph and the
//! neighbourhoods that an item sees at its time are messages and samples of `network`, and what reads them is a layer of
//! `program`.

pub mod complexes;
mod data;
pub mod ground;
pub mod kernels;
pub mod models;
pub mod network;
pub mod ops;
mod optimizer;
mod options;
pub mod program;
mod protocols;
pub mod spaces;
mod tasks;
mod training;

pub use data::{
    ALWAYS, Alignment, AlignmentError, ComplexSet, Complexes, EdgeWeights, Features, GivenPair, GraphData,
    GraphRelation, GraphSet, GraphTypes, ItemRows, LinkError, LinkSplit, NEVER, NonEdges, Pair, Part, Reduction,
    SparseRows, Split, Targets, TimedGraph, TimedItem, WeightError, align, joined_features, joined_features_bytes,
    structural_features, structural_features_bytes, with_neighbor_means,
};
pub use ground::{BuildError, DataError, Matrix, OptionError, SaveError, Status, TrainError, random};
pub use models::foundation::Source;
pub use models::{ModelSpec, is_pretrained, model, models, reads_types};
pub use optimizer::{Optimizer, schedule};
pub use options::table::{DATA_OPTIONS, RUN_OPTIONS, SHARED_OPTIONS};
pub use options::{
    ClassWeights, ColumnType, Decoder, Domain, Encodings, EvaluateOn, FanoutOrder, FeatureSource, Featureless, Form,
    Job, ModelOptions, Negatives, Normalize, OptimizerKind, OptionSpec, Pooling, RegressionLoss, SamplerKind, SelectBy,
    Shares, SplitError, SplitScheme, Task, TrainOptions, Value,
};
pub use protocols::choose as choose_protocol;
pub use protocols::{
    AUDIT_COLUMNS, AuditRow, FACTS, Protocol, ProtocolError, SettingType, audit, protocols, setting_type, settings,
};
pub use tasks::metrics;
pub use training::{
    EpochRecord, Items, Outcome, Place, Pretrained, Run, Saved, SourceRecord, device, file_name, most_together,
    pretrain, together_key, train, train_together,
};

#[cfg(feature = "sql")]
mod sql;
#[cfg(test)]
mod tests;
#[cfg(feature = "sql")]
pub use sql::{FailedRuns, Notices, audit_rows, functions, protocol_rows};
