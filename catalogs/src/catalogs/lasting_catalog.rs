//! A database as a catalog: its schemas, and those that graphs are attached as.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bonnet_datasets::Opened;
use datafusion::common::{Result, plan_err};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::lasting_schema::LastingSchema;
use crate::attached::graph_schema::GraphSchema;
use crate::ground::error::external;
use crate::ground::new_table::NewGraph;
use crate::lasting::{Attachment, Database, SchemaFolder};
use crate::schemas::engine_catalog::EngineCatalog;
use crate::schemas::engine_schema::EngineSchema;
use crate::schemas::faulty_schema::FaultySchema;

/// Attached graphs by the names of their schemas.
type OpenGraphs = Mutex<HashMap<String, (Attachment, Arc<GraphSchema>)>>;

/// A database as a catalog.
#[derive(Debug, Clone)]
pub struct LastingCatalog {
    database: Arc<Database>,
    /// The attached graphs that were opened, with what they were attached by.
    graphs: Arc<OpenGraphs>,
}

impl LastingCatalog {
    /// The catalog of this database.
    pub fn new(database: Arc<Database>) -> Self {
        Self { database, graphs: Arc::default() }
    }

    /// The attached graph of a schema, opened when it is first needed.
    fn graph(&self, schema: &str, attached: &Attachment) -> Result<Arc<GraphSchema>> {
        if let Some((by, graph)) = self.graphs.lock().unwrap_or_else(PoisonError::into_inner).get(schema)
            && by == attached
        {
            return Ok(Arc::clone(graph));
        }
        let opened = bonnet_datasets::open(&attached.location, attached.format.as_deref(), &attached.options);
        let graph = match opened.map_err(external)? {
            Opened::Graph(dataset) => GraphSchema::new(dataset, attached.read_only),
            Opened::Collection(_) => {
                return plan_err!(
                    "'{}' was one graph when it was attached as {schema} and is a folder of graphs now: DETACH {schema} \
                     and attach it again",
                    attached.location
                );
            }
        };
        let graph = Arc::new(graph);
        self.graphs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(schema.to_owned(), (attached.clone(), Arc::clone(&graph)));
        Ok(graph)
    }
}

impl EngineCatalog for LastingCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.database.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn EngineSchema>> {
        let fault = |why: String| Some(Arc::new(FaultySchema(why)) as Arc<dyn EngineSchema>);
        let found = match self.database.schema_entry(name) {
            Ok(found) => found?,
            Err(why) => return fault(why),
        };
        let attached = match found.attached.map(|attached| self.graph(name, &attached)).transpose() {
            Ok(attached) => attached,
            Err(error) => {
                return fault(format!("the schema {name}: {}; DETACH {name} forgets it", error.strip_backtrace()));
            }
        };
        let tables = SchemaFolder::new(Arc::clone(&self.database), name, found.folder);
        Some(Arc::new(LastingSchema { tables, facts: found.graph, attached }))
    }

    fn register_schema(&self, name: &str, _: Arc<dyn EngineSchema>) -> Result<()> {
        self.database.create_schema(name)
    }

    fn drop_schema(&self, name: &str, cascade: bool) -> Result<bool> {
        self.database.drop_schema(name, cascade)
    }

    fn create_graph<'a>(&'a self, name: &'a str, graph: NewGraph, replace: bool) -> BoxFuture<'a, Result<()>> {
        self.database.create_graph(name, graph, replace).boxed()
    }
}

impl dyn EngineCatalog {
    /// The lasting database that the catalog is, if it is one.
    pub fn database(&self) -> Option<&Arc<Database>> {
        match self.inner() {
            Some(inner) => inner.database(),
            None => (self as &dyn Any).downcast_ref::<LastingCatalog>().map(|lasting| &lasting.database),
        }
    }
}
