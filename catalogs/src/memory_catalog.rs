//! Catalogs and schemas that live as long as the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use bonnet_datasets::Collection;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::{Constraints, Result, internal_err, plan_err};
use datafusion::logical_expr::TableType;

use crate::delta::GraphFacts;
use crate::engine_catalog::{EngineCatalog, EngineSchema, MAIN_SCHEMA, NewGraph};
use crate::graph_schema::GraphSchema;
use crate::memory_table::{MemoryTable, TableMemory};

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

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        self.tables.table_type(name).await
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

/// A catalog in memory: the engine's own, or the graphs of an attached folder and the schemas that users create beside
/// them.
#[derive(Debug)]
pub struct MemoryCatalog {
    schemas: RwLock<BTreeMap<String, Arc<dyn EngineSchema>>>,
    read_only: bool,
}

impl Default for MemoryCatalog {
    /// The catalog of an engine, with an empty schema `main`.
    fn default() -> Self {
        let main = Arc::new(MemorySchema::default()) as Arc<dyn EngineSchema>;
        Self { schemas: RwLock::new([(MAIN_SCHEMA.to_owned(), main)].into()), read_only: false }
    }
}

impl MemoryCatalog {
    /// The catalog of a folder of graphs, one schema each; with `read_only` nothing is created or dropped in it.
    pub fn of_graphs(collection: Collection, read_only: bool) -> Self {
        let graphs = collection.graphs.into_iter();
        let schema = |dataset| Arc::new(GraphSchema::new(dataset, read_only)) as Arc<dyn EngineSchema>;
        Self { schemas: RwLock::new(graphs.map(|(name, dataset)| (name, schema(dataset))).collect()), read_only }
    }

    fn writable(&self, schema: &str) -> Result<()> {
        if self.read_only {
            return plan_err!(
                "the catalog is attached READ_ONLY: the schema {schema} can be neither made nor dropped in it"
            );
        }
        Ok(())
    }
}

impl EngineCatalog for MemoryCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.schemas.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn EngineSchema>> {
        self.schemas.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn EngineSchema>) -> Result<()> {
        self.writable(name)?;
        let mut schemas = self.schemas.write().unwrap_or_else(PoisonError::into_inner);
        if schemas.contains_key(name) {
            return plan_err!("the schema {name} exists already");
        }
        schemas.insert(name.to_owned(), schema);
        Ok(())
    }

    fn drop_schema(&self, name: &str, cascade: bool) -> Result<bool> {
        self.writable(name)?;
        let mut schemas = self.schemas.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = schemas.get(name)
            && !cascade
            && !schema.table_names().is_empty()
        {
            let tables = schema.table_names().join(", ");
            return plan_err!("schema {name} has the tables {tables}; DROP SCHEMA {name} CASCADE drops them too");
        }
        Ok(schemas.remove(name).is_some())
    }
}
