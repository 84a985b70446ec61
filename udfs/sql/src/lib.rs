//! The registry of SQL functions and the adapters that lift a plain function into SQL.
//!
//! A subject registers [`Function`]s: a name, parameters with their defaults, documentation, and a body of one of eight
//! shapes. Scalar, window and the two kinds of aggregate bodies become DataFusion functions; the other four (edge,
//! relation, run, generator) are [`Operator`]s: nodes of the plan that read real inputs, run on the engine's kernel
//! threads, reserve memory, report progress and stop when nobody waits for them.
//!
//! ```
//! use bonnet_sql::{Kind, Registry, flatten};
//!
//! let mut registry = Registry::default();
//! registry.register([flatten()])?;
//! assert_eq!(registry.get("FLATTEN").map(|function| function.kind()), Some(Kind::Relation));
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! ```

mod bounded;
pub mod codec;
mod edge;
mod ends;
mod flatten;
mod generator;
mod graphs;
mod group_once;
mod groups;
mod held;
mod host;
mod input;
mod keys;
mod node;
mod operator;
mod options;
mod planner;
mod registry;
mod rows;
mod rules;
mod run;
mod shared;
mod statement;
mod udf;
mod window;

pub use bounded::bounded_functions;
pub use edge::{EdgeFunction, EdgeRows};
pub use ends::{EdgeEnds, of_graphs};
pub use flatten::flatten;
pub use generator::{GeneratedGraph, Generator, Sources};
pub use graphs::{GraphRef, GraphResolver, GraphSchemas, GraphTables, SchemaFacts, SessionGraphs, split_graph_name};
pub use group_once::GroupOnce;
pub use held::GroupedRows;
pub use host::{Host, KernelContext, Progress, ProgressReport};
pub use input::{InputGraph, Weights, bind_graph, collect_graphs, collect_weighted_graphs, edge_schema, with_graph_id};
pub use keys::{KeyColumn, KeyIndex};
pub use node::{RelationExec, RelationNode, panic_text};
pub use operator::{
    Binding, Call, InputSchema, Operator, execution_error, memory_text, named_error, require_columns, stopped,
    usage_error,
};
pub use options::{OptionValue, Options};
pub use planner::{BonnetQueryPlanner, FunctionPlanner};
pub use registry::{Body, Column, Function, Kind, OptionType, Parameter, ParameterKind, Registry};
pub use rows::{RowsFunction, RowsKernel};
pub use rules::{EdgeWindows, PruneOutputs, ShareRuns};
pub use run::Run;
pub use statement::Statement;
pub use udf::{AggregateFunction, AggregateState, ScalarFunction};
pub use window::WindowFunction;
