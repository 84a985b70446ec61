//! New tables and graphs, as CREATE TABLE and CREATE GRAPH hand them to a schema or catalog, and names that every engine
//! has.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Constraints;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::logical_expr::Expr;
use datafusion::prelude::DataFrame;

use super::graph_facts::GraphFacts;

/// The catalog of tables that live as long as the engine: the only one of an engine without a database.
pub const MEMORY_CATALOG: &str = "memory";
/// The schema of tables without a schema.
pub const MAIN_SCHEMA: &str = "main";

/// The columns, rows and constraints of a new table.
pub struct NewTable {
    /// The columns, as the rows have them but for NOT NULL.
    pub columns: SchemaRef,
    /// The rows.
    pub rows: DataFrame,
    /// The defaults of columns.
    pub defaults: Vec<(String, Expr)>,
    /// PRIMARY KEY and UNIQUE.
    pub constraints: Constraints,
}

/// The tables and facts of a new graph.
pub struct NewGraph {
    /// The facts that its tables do not hold.
    pub facts: GraphFacts,
    /// Its tables by name, of one batch at least each.
    pub tables: Vec<(&'static str, Vec<RecordBatch>)>,
    /// The memory that tables in memory take.
    pub memory: Arc<dyn MemoryPool>,
}
