//! Catalogs as statements see them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use datafusion::common::Result;
use futures::future::BoxFuture;

use super::engine_schema::EngineSchema;
use crate::ground::new_table::NewGraph;

/// A catalog in which statements create and drop schemas and graphs.
pub trait EngineCatalog: Any + Debug + Send + Sync {
    /// The names of its schemas.
    fn schema_names(&self) -> Vec<String>;

    /// The schema of this name.
    fn schema(&self, name: &str) -> Option<Arc<dyn EngineSchema>>;

    /// Puts a schema under a name. A lasting database makes an empty one of its own instead.
    ///
    /// # Errors
    /// If the catalog takes none, or the name is taken.
    fn register_schema(&self, name: &str, schema: Arc<dyn EngineSchema>) -> Result<()>;

    /// Drops a schema, with `cascade` even if it has tables; whether there was one.
    ///
    /// # Errors
    /// If it stays.
    fn drop_schema(&self, name: &str, cascade: bool) -> Result<bool>;

    /// Creates the schema of a graph with its tables, in one step. With `replace` it takes the place of a schema.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced, or there is no memory for the tables.
    fn create_graph<'a>(&'a self, name: &'a str, graph: NewGraph, replace: bool) -> BoxFuture<'a, Result<()>>;

    /// The catalog that this one stands for, where it opens another when it is first used.
    fn inner(&self) -> Option<&Arc<dyn EngineCatalog>> {
        None
    }
}
