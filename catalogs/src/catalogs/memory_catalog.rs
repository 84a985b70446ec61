//! Catalogs that live as long as the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use bonnet_common::raise;
use bonnet_datasets::Collection;
use datafusion::common::{Result, plan_err};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::attached::graph_schema::GraphSchema;
use crate::ground::new_table::{MAIN_SCHEMA, NewGraph};
use crate::schemas::create_graph::create_graph;
use crate::schemas::engine_catalog::EngineCatalog;
use crate::schemas::engine_schema::EngineSchema;
use crate::schemas::memory_schema::MemorySchema;

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
            return raise!(
                ReadOnly,
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
            return raise!(AlreadyExists, "the schema {name} exists already");
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

    fn create_graph<'a>(&'a self, name: &'a str, graph: NewGraph, replace: bool) -> BoxFuture<'a, Result<()>> {
        ready(create_graph(self, name, graph, replace)).boxed()
    }
}
