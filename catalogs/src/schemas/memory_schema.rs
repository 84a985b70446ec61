//! Schemas that live as long as the engine.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::{Constraints, Result, internal_err};

use super::engine_schema::EngineSchema;
use crate::ground::graph_facts::GraphFacts;
use crate::ground::new_table::NewGraph;
use crate::memory::memory_table::{MemoryTable, TableMemory};

/// A schema in memory.
#[derive(Debug, Default)]
pub struct MemorySchema {
    tables: MemorySchemaProvider,
    facts: Option<GraphFacts>,
}

impl MemorySchema {
    /// The schema of a graph that a statement made.
    pub(crate) fn graph(name: &str, graph: NewGraph) -> Result<Self> {
        let NewGraph { facts, tables, memory } = graph;
        let schema = Self { tables: MemorySchemaProvider::new(), facts: Some(facts) };
        for (table, batches) in tables {
            let Some(first) = batches.first() else { return internal_err!("the table {table} has no batch") };
            let (name, columns) = (format!("{name}.{table}"), first.schema());
            let mut reserved = TableMemory::new(&name, &memory);
            batches.iter().try_for_each(|batch| reserved.grow(batch))?;
            let rows =
                MemoryTable::try_new(&name, columns, vec![batches], Constraints::default(), Vec::new(), reserved)?;
            schema.register_table(table.to_owned(), Arc::new(rows))?;
        }
        Ok(schema)
    }
}

#[async_trait]
impl SchemaProvider for MemorySchema {
    fn table_names(&self) -> Vec<String> {
        self.tables.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.tables.table(name).await
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.tables.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.tables.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.table_exist(name)
    }
}

impl EngineSchema for MemorySchema {
    fn facts(&self) -> Option<&GraphFacts> {
        self.facts.as_ref()
    }
}
