//! CREATE GRAPH where tables are in memory.

use std::sync::Arc;

use datafusion::common::Result;

use super::engine_catalog::EngineCatalog;
use super::memory_schema::MemorySchema;
use crate::ground::new_table::NewGraph;

/// Creates a graph whose tables are in memory.
pub(crate) fn create_graph(catalog: &dyn EngineCatalog, name: &str, graph: NewGraph, replace: bool) -> Result<()> {
    let schema = MemorySchema::graph(name, graph)?;
    if replace {
        catalog.drop_schema(name, true)?;
    }
    catalog.register_schema(name, Arc::new(schema))
}
