//! DataFusion's own catalogs and schemas, which programs may register with a session, as an engine's.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::TableType;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::ground::new_table::NewGraph;
use crate::schemas::create_graph::create_graph;
use crate::schemas::engine_catalog::EngineCatalog;
use crate::schemas::engine_schema::EngineSchema;

/// A catalog of DataFusion's.
#[derive(Debug)]
pub(crate) struct ProviderCatalog(pub Arc<dyn CatalogProvider>);

/// A schema of DataFusion's.
#[derive(Debug)]
pub(crate) struct ProviderSchema(pub Arc<dyn SchemaProvider>);

impl EngineCatalog for ProviderCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.0.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn EngineSchema>> {
        Some(Arc::new(ProviderSchema(self.0.schema(name)?)))
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn EngineSchema>) -> Result<()> {
        self.0.register_schema(name, schema).map(|_| ())
    }

    fn drop_schema(&self, name: &str, cascade: bool) -> Result<bool> {
        Ok(self.0.deregister_schema(name, cascade)?.is_some())
    }

    fn create_graph<'a>(&'a self, name: &'a str, graph: NewGraph, replace: bool) -> BoxFuture<'a, Result<()>> {
        ready(create_graph(self, name, graph, replace)).boxed()
    }
}

impl EngineSchema for ProviderSchema {}

#[async_trait]
impl SchemaProvider for ProviderSchema {
    fn table_names(&self) -> Vec<String> {
        self.0.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.table(name).await
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        self.0.table_type(name).await
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.0.table_exist(name)
    }
}
