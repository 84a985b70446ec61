//! Catalogs and schemas as statements see them: DataFusion's providers, extended by what its DDL leaves out.
//!
//! Every kind of schema (in memory, lasting, attached, of the system) implements [`EngineSchema`], every kind of catalog
//! [`EngineCatalog`]. The defaults are those of memory. [`EngineCatalogs`] is the list that the sessions of an engine
//! share; each session sees it through [`crate::SessionCatalogs`].

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

use bonnet_datasets::Dataset;
use datafusion::catalog::SchemaProvider;
use datafusion::common::{Result, plan_err};
use datafusion::datasource::TableProvider;
use datafusion::execution::SessionState;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::column_change::ColumnChange;
use crate::delta::{Database, GraphFacts, LastingTable};
use crate::memory_table::MemoryTable;
use crate::new_table::{MAIN_SCHEMA, NewGraph, NewTable, SYSTEM_SCHEMA};
use crate::stored_view::StoredView;

/// A schema in which statements create and drop tables and views.
pub trait EngineSchema: SchemaProvider {
    /// The facts of a graph that a statement made.
    fn facts(&self) -> Option<&GraphFacts> {
        None
    }

    /// The attached data set that the schema stands for.
    fn dataset(&self) -> Option<&Arc<dyn Dataset>> {
        None
    }

    /// The lasting database that the schema belongs to.
    fn database(&self) -> Option<&Arc<Database>> {
        None
    }

    /// The reason why a schema that its catalog names cannot be read.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// The tables and views that the catalog names but whose entries cannot be read, each with the reason.
    fn damaged(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Why a table can be neither dropped nor replaced, if it is not the user's. DataFusion's DROP discards the error of a
    /// schema, so statements ask first.
    fn why_not_drop(&self, _table: &str) -> Option<String> {
        None
    }

    /// Creates a table, which appears with all its rows or not at all. With `replace` it takes the place of a table or
    /// view.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced, the schema takes no tables, or the rows fail.
    fn create_table<'a>(&'a self, table: &'a str, new: NewTable, replace: bool) -> BoxFuture<'a, Result<()>> {
        async move {
            let rows = MemoryTable::load(table, new).await?;
            put(self, table, Arc::new(rows), replace)
        }
        .boxed()
    }

    /// Creates a view. With `replace` it takes the place of a table or view.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced, or the schema takes no views.
    fn create_view(&self, view: StoredView, replace: bool) -> Result<()> {
        let name = view.name.clone();
        put(self, &name, Arc::new(view), replace)
    }

    /// Drops a table or view; whether there was one.
    ///
    /// # Errors
    /// If it is not the user's.
    fn drop_table(&self, table: &str) -> Result<bool> {
        match self.why_not_drop(table) {
            Some(why) => plan_err!("{why}"),
            None => Ok(self.deregister_table(table)?.is_some()),
        }
    }

    /// Gives a table, which is there, another name in its schema.
    ///
    /// # Errors
    /// If the name is taken, or the table stays as it is.
    fn rename_table(&self, table: &str, to: &str) -> Result<()> {
        if self.table_exist(to) {
            return plan_err!("the table {to} exists already: DROP it first");
        }
        match self.deregister_table(table)? {
            Some(found) => self.register_table(to.to_owned(), found).map(|_| ()),
            None => plan_err!("there is no table {table}"),
        }
    }

    /// Changes the columns of a table, in one step.
    ///
    /// # Errors
    /// If they cannot be changed so; the table stays as it is.
    fn change_columns<'a>(
        &'a self,
        table: &'a str,
        change: &'a ColumnChange,
        state: &'a SessionState,
    ) -> BoxFuture<'a, Result<()>> {
        async move {
            let Some(found) = self.table(table).await? else { return plan_err!("there is no table {table}") };
            let Some(rows) = found.downcast_ref::<MemoryTable>() else {
                return plan_err!("{table} was registered by a program or reads files, which give it its columns");
            };
            put(self, table, Arc::new(rows.with_columns(table, change, state).await?), true)
        }
        .boxed()
    }

    /// The lasting table of this name: what has versions, and files that are merged and removed.
    ///
    /// # Errors
    /// If it cannot be read.
    fn lasting_table<'a>(&'a self, _table: &'a str) -> BoxFuture<'a, Result<Option<LastingTable>>> {
        ready(Ok(None)).boxed()
    }
}

fn put<S: EngineSchema + ?Sized>(schema: &S, name: &str, table: Arc<dyn TableProvider>, replace: bool) -> Result<()> {
    if schema.table_exist(name) {
        if !replace {
            return plan_err!("the table {name} exists already: CREATE OR REPLACE, or DROP it first");
        }
        schema.drop_table(name)?;
    }
    schema.register_table(name.to_owned(), table).map(|_| ())
}

/// A catalog in which statements create and drop schemas and graphs.
pub trait EngineCatalog: Debug + Send + Sync {
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
    /// If the name is taken and not to be replaced, or there is no room for the tables.
    fn create_graph<'a>(&'a self, name: &'a str, graph: NewGraph, replace: bool) -> BoxFuture<'a, Result<()>>;

    /// The lasting database that the catalog is, if it is one.
    fn database(&self) -> Option<&Arc<Database>> {
        None
    }
}

/// The catalogs of an engine. `a.t` is the schema `a` of the session's catalog, else the schema `main` of the catalog
/// `a`; the schema `bonnet` is seen from every catalog.
#[derive(Debug)]
pub struct EngineCatalogs {
    catalogs: RwLock<BTreeMap<String, Arc<dyn EngineCatalog>>>,
    start: String,
    system: Arc<dyn EngineSchema>,
}

impl EngineCatalogs {
    /// No catalogs yet, but the system's schema; `start` is the name of the catalog in which sessions start.
    pub fn new(start: &str, system: Arc<dyn EngineSchema>) -> Self {
        Self { catalogs: RwLock::default(), start: start.to_owned(), system }
    }

    /// The name of the catalog in which sessions start.
    pub fn start(&self) -> &str {
        &self.start
    }

    /// The names of the catalogs, in order.
    pub fn names(&self) -> Vec<String> {
        self.catalogs.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// The catalog of this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn EngineCatalog>> {
        self.catalogs.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Puts a catalog under a name, in the place of any other.
    pub fn insert(&self, name: &str, catalog: Arc<dyn EngineCatalog>) {
        self.catalogs.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), catalog);
    }

    /// Forgets a catalog; whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        self.catalogs.write().unwrap_or_else(PoisonError::into_inner).remove(name).is_some()
    }

    /// The schema that a name means in a catalog, with the name of the catalog that has it.
    pub fn schema(&self, catalog: &str, schema: &str) -> Option<(String, Arc<dyn EngineSchema>)> {
        if schema == SYSTEM_SCHEMA {
            return Some((catalog.to_owned(), Arc::clone(&self.system)));
        }
        match self.get(catalog)?.schema(schema) {
            Some(found) => Some((catalog.to_owned(), found)),
            None => Some((schema.to_owned(), self.get(schema)?.schema(MAIN_SCHEMA)?)),
        }
    }

    /// Refuses to create a schema whose name would mean something else.
    ///
    /// # Errors
    /// If it is the system's, or a catalog's.
    pub fn check_new_schema(&self, name: &str) -> Result<()> {
        if name == SYSTEM_SCHEMA {
            return plan_err!("the schema {SYSTEM_SCHEMA} belongs to the engine; choose another name");
        }
        // Were there both, `name.table` could mean either.
        if self.get(name).is_some() {
            return plan_err!("{name} is a catalog already, so {name}.table would be ambiguous; choose another name");
        }
        Ok(())
    }

    /// Every table, view and schema of any catalog that cannot be read, with the reason: `lab.main.t`.
    pub fn damaged(&self) -> Vec<(String, String)> {
        self.names().iter().flat_map(|name| self.damaged_of(name)).collect()
    }

    /// Those of one catalog.
    pub fn damaged_of(&self, name: &str) -> Vec<(String, String)> {
        let Some(catalog) = self.get(name) else { return Vec::new() };
        let mut found = Vec::new();
        let mut schemas = catalog.schema_names();
        let lasting = catalog.database().is_some();
        if schemas.is_empty()
            && !lasting
            && let Some(schema) = catalog.schema(MAIN_SCHEMA)
        {
            found.extend(schema.fault().map(|why| (name.to_owned(), reason(why))));
        }
        // Every database has it, though its entry may be gone.
        if lasting && !schemas.iter().any(|schema| schema == MAIN_SCHEMA) {
            schemas.push(MAIN_SCHEMA.to_owned());
        }
        for schema_name in schemas {
            let Some(schema) = catalog.schema(&schema_name) else { continue };
            let path = format!("{name}.{schema_name}");
            found.extend(schema.fault().map(|why| (path.clone(), reason(why))));
            found.extend(schema.damaged().into_iter().map(|(table, why)| (format!("{path}.{table}"), reason(&why))));
        }
        found
    }
}

/// The reason in an error's text, which may begin with the name of what cannot be read.
fn reason(why: &str) -> String {
    let named = why.split_once(" cannot be read: ").filter(|(name, _)| !name.contains('\''));
    named.map_or(why, |(_, reason)| reason).to_owned()
}
