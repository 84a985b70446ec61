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
//!
//! # Floors
//!
//! 1. `error`: errors.
//! 2. `host`: memory, progress and cancellation.
//! 3. `graphs`: from the name of a graph to its tables, and to the graph itself where it is cached.
//! 4. `runs`: what a run gets.
//! 5. `registry`: functions: their names, parameters, bodies and options.
//! 6. `binding`: from a call to what its run needs.
//! 7. `adapters`: from a plain function to one of SQL.
//! 8. `plans`: calls in logical plans.
//! 9. `execution`: calls in physical plans.
//! 10. `codec`, `planner`: from a call in FROM to its execution; plans as bytes.

mod adapters;
mod binding;
pub mod codec;
mod error;
mod execution;
mod graphs;
mod host;
mod planner;
mod plans;
mod registry;
mod runs;

pub use adapters::flatten::flatten;
pub use adapters::graph_aggregate::{EdgeEnds, GraphValue, graph_aggregate, of_graphs};
pub use adapters::number_aggregate::{number_aggregate, without_nan};
pub use adapters::rows_function::rows_function;
pub use adapters::scalar_function::{scalar_function, typed_scalar_function};
pub use adapters::shared_states::SharedStates;
pub use binding::arguments;
pub use binding::expressions::{InputColumns, map_expressions, mentions};
pub use binding::graph_input::{GraphInput, edge_schema};
pub use bonnet_columns::{GroupedRows, KeyColumn, KeyIndex, whole_column};
pub use bonnet_common::{ErrorKind, Raised, panic_text, sql_type, without_report_request};
pub use error::{execution_error, kernel_error, memory_text, named_error, stopped, usage_error};
pub use execution::relation_exec::RelationExec;
pub use graphs::database_files::outside_databases;
pub use graphs::graph_cache::{CachedGraphRow, GraphCache, GraphCacheAccess, GraphStructure, SharedStructure};
pub use graphs::table_version::TableVersion;
pub use graphs::{
    FindVersion, GraphRef, GraphResolver, GraphSchemas, GraphTables, SchemaFacts, SessionGraphs, TableVersions,
    split_graph_name,
};
pub use host::running_statement::{ExpressionHost, RunningStatement};
pub use host::{Host, KernelContext, Progress, ProgressReport};
pub use planner::{BonnetQueryPlanner, FunctionPlanner};
pub use plans::edge_windows::EdgeWindows;
pub use plans::group_once::GroupOnce;
pub use plans::node::RelationNode;
pub use plans::rules::{PruneOutputs, ShareRuns};
pub use registry::body::{
    AggregateFunction, AggregateState, Body, EdgeFunction, EdgeKernel, Generator, Kind, RowsFunction, RowsKernel,
    ScalarFunction, WindowFunction,
};
pub use registry::generated_graph::GeneratedGraph;
pub use registry::generator_inputs::GeneratorInputs;
pub use registry::operator::{Binding, Call, InputSchema, Operator, require_columns};
pub use registry::options::{OptionValue, Options};
pub use registry::{Column, Function, OptionType, Parameter, ParameterKind, Place, Registry};
pub use runs::cached_input::TableColumns;
pub use runs::input_graph::InputGraph;
pub use runs::run::Run;
