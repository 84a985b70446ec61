//! The registry of SQL functions and the adapters that lift a plain function into SQL.
//!
//! A subject registers [`Function`]s: a name, parameters with their defaults, documentation, and a [`Body`]. Scalar,
//! aggregate and window bodies become DataFusion functions; the others (edge, relation, run, generator) are
//! [`Operator`]s: nodes of the plan that read real inputs, run on the engine's kernel threads, reserve memory, report
//! progress and stop when the query is cancelled. Binding a call parses its options once: the [`Binding`] owns the run.
//!
//! Functions of graphs receive an [`InputGraph`]: relation operators by [`GraphInput::collect`], edge functions one at a
//! time; aggregates over edges go through [`graph_aggregate`] or [`of_graphs`]. Those over columns of numbers go through
//! [`number_aggregate`].
//!
//! ```
//! use bonnet_sql::{Kind, Registry, flatten};
//!
//! let mut registry = Registry::default();
//! registry.register([flatten()])?;
//! assert_eq!(registry.get("FLATTEN").map(|function| function.kind()), Some(Kind::Relation));
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! ```

mod adapter;
pub mod arguments;
mod body;
mod cached_input;
pub mod codec;
mod columns;
mod compute_time;
mod database_files;
mod edge;
mod edge_windows;
mod error;
mod explain;
mod expressions;
mod flatten;
mod generated_graph;
mod generator;
mod generator_inputs;
mod graph_aggregate;
mod graph_cache;
mod graph_input;
mod graph_partitions;
mod graphs;
mod group_once;
mod grouped_rows;
mod groups;
mod host;
mod inner_function;
mod input_graph;
mod keys;
mod launch;
mod node;
mod number_aggregate;
mod operator;
mod options;
mod planner;
mod registry;
mod relation_exec;
mod rows;
mod rows_function;
mod rules;
mod run;
mod running_statement;
mod scalar_function;
mod shared_run;
mod shared_states;
mod sources;
mod table_version;
mod udf;
mod window;

pub use body::{
    AggregateFunction, AggregateState, Body, EdgeFunction, EdgeKernel, Generator, Kind, RowsFunction, RowsKernel,
    ScalarFunction, WindowFunction,
};
pub use bonnet_common::{panic_text, position, sql_type, without_report_request};
pub use cached_input::TableColumns;
pub use columns::whole_column;
pub use database_files::outside_databases;
pub use edge_windows::EdgeWindows;
pub use error::{execution_error, kernel_error, memory_text, named_error, stopped, usage_error};
pub use expressions::{InputColumns, map_expressions, mentions};
pub use flatten::flatten;
pub use generated_graph::GeneratedGraph;
pub use generator_inputs::GeneratorInputs;
pub use graph_aggregate::{EdgeEnds, GraphValue, graph_aggregate, of_graphs};
pub use graph_cache::{CachedGraphRow, GraphCache, GraphCacheAccess, GraphStructure, SharedStructure};
pub use graph_input::{GraphInput, edge_schema};
pub use graphs::{
    FindVersion, GraphRef, GraphResolver, GraphSchemas, GraphTables, SchemaFacts, SessionGraphs, TableVersions,
    split_graph_name,
};
pub use group_once::GroupOnce;
pub use grouped_rows::GroupedRows;
pub use host::{Host, KernelContext, Progress, ProgressReport};
pub use input_graph::InputGraph;
pub use keys::{KeyColumn, KeyIndex};
pub use node::RelationNode;
pub use number_aggregate::{number_aggregate, without_nan};
pub use operator::{Binding, Call, InputSchema, Operator, require_columns};
pub use options::{OptionValue, Options};
pub use planner::{BonnetQueryPlanner, FunctionPlanner};
pub use registry::{Column, Function, OptionType, Parameter, ParameterKind, Place, Registry};
pub use relation_exec::RelationExec;
pub use rows_function::rows_function;
pub use rules::{PruneOutputs, ShareRuns};
pub use run::Run;
pub use running_statement::{ExpressionHost, RunningStatement};
pub use scalar_function::{scalar_function, typed_scalar_function};
pub use shared_states::SharedStates;
pub use table_version::TableVersion;
