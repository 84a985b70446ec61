//! What CREATE TABLE and CREATE GRAPH hand to the schema or catalog that creates it, and the names that every engine has.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Constraints;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::logical_expr::Expr;
use datafusion::prelude::DataFrame;

use crate::delta::GraphFacts;

/// The catalog of what lives as long as the engine: the only one of an engine without a database.
pub const MEMORY_CATALOG: &str = "memory";
/// The schema of tables without a schema.
pub const MAIN_SCHEMA: &str = "main";

/// The name of the system schema.
pub const SYSTEM_SCHEMA: &str = "bonnet";

/// What a new table is made of.
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

/// What a new graph is made of.
pub struct NewGraph {
    /// What its tables do not say.
    pub facts: GraphFacts,
    /// Its tables by name, of one batch at least each.
    pub tables: Vec<(&'static str, Vec<RecordBatch>)>,
    /// The memory that tables in memory take.
    pub memory: Arc<dyn MemoryPool>,
}
