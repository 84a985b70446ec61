//! A schema of a database: Delta tables, views, and the tables of an attached graph.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bonnet_common::raise;
use bonnet_datasets::Dataset;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{Result, plan_err};
use datafusion::datasource::TableType;
use datafusion::datasource::empty::EmptyTable;
use datafusion::execution::SessionState;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::attached::graph_schema::GraphSchema;
use crate::ground::column_change::ColumnChange;
use crate::ground::graph_facts::GraphFacts;
use crate::ground::new_table::NewTable;
use crate::lasting::{Database, Found, LastingTable, SchemaFolder};
use crate::schemas::engine_schema::EngineSchema;
use crate::schemas::kept_table::{Kept, KeptTable};
use crate::schemas::stored_view::StoredView;

/// A schema of a database.
pub(super) struct LastingSchema {
    pub(super) tables: SchemaFolder,
    pub(super) facts: Option<GraphFacts>,
    pub(super) attached: Option<Arc<GraphSchema>>,
}

impl fmt::Debug for LastingSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastingSchema").field("name", &self.tables.name()).finish_non_exhaustive()
    }
}

impl LastingSchema {
    fn check_new(&self, table: &str) -> Result<()> {
        self.tables.check_new(table)?;
        self.attached.as_ref().map_or(Ok(()), |graph| graph.check_new(table))
    }

    /// The schema, if it is one of a database.
    fn of(schema: &dyn EngineSchema) -> Option<&Self> {
        let schema: &dyn SchemaProvider = schema;
        schema.downcast_ref()
    }
}

impl EngineSchema for LastingSchema {
    fn facts(&self) -> Option<&GraphFacts> {
        self.facts.as_ref()
    }

    fn dataset(&self) -> Option<&Arc<dyn Dataset>> {
        self.attached.as_ref()?.dataset()
    }

    fn damaged(&self) -> Vec<(String, String)> {
        self.tables.damaged()
    }

    fn why_not_drop(&self, table: &str) -> Option<String> {
        self.attached.as_ref()?.why_not_drop(table)
    }

    fn create_table<'a>(&'a self, table: &'a str, new: NewTable, replace: bool) -> BoxFuture<'a, Result<()>> {
        async move {
            self.check_new(table)?;
            self.tables.create_table(table, new, replace).await
        }
        .boxed()
    }

    fn create_view(&self, view: StoredView, replace: bool) -> Result<()> {
        self.check_new(&view.name)?;
        self.tables.create_view(&view.name, view.query, view.schema, replace)
    }

    fn drop_table(&self, table: &str) -> Result<bool> {
        if self.tables.unregister_table(table) {
            return Ok(true);
        }
        match self.why_not_drop(table) {
            Some(why) => plan_err!("{why}"),
            None => self.tables.drop_table(table),
        }
    }

    fn kept<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Option<KeptTable>>> {
        let kept = match self.tables.registered(table) {
            Some(table) => Ok(Some(KeptTable(Kept::Provider(table)))),
            None => self.tables.kept(table).map(|entry| entry.map(|entry| KeptTable(Kept::Entry(entry)))),
        };
        ready(kept).boxed()
    }

    fn put_back(&self, table: &str, kept: &KeptTable) -> Result<()> {
        match &kept.0 {
            Kept::Provider(kept) => self.register_table(table.to_owned(), Arc::clone(kept)).map(|_| ()),
            Kept::Entry(entry) => self.tables.put_back(table, entry),
        }
    }

    fn rename_table(&self, table: &str, to: &str) -> Result<()> {
        self.check_new(to)?;
        self.tables.rename_table(table, to)
    }

    fn change_columns<'a>(
        &'a self,
        table: &'a str,
        change: &'a ColumnChange,
        state: &'a SessionState,
    ) -> BoxFuture<'a, Result<()>> {
        self.tables.change_columns(table, change, state).boxed()
    }
}

impl dyn EngineSchema {
    /// The lasting database that the schema belongs to, if it belongs to one.
    pub fn database(&self) -> Option<&Arc<Database>> {
        LastingSchema::of(self).map(|schema| schema.tables.database())
    }

    /// The lasting table of this name: what has versions, and files that are merged and removed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn lasting_table<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Option<LastingTable>>> {
        match LastingSchema::of(self) {
            Some(schema) => schema.tables.lasting_table(table).boxed(),
            None => ready(Ok(None)).boxed(),
        }
    }
}

#[async_trait]
impl SchemaProvider for LastingSchema {
    fn table_names(&self) -> Vec<String> {
        let mut all = self.tables.table_names();
        all.extend(self.attached.iter().flat_map(|graph| graph.table_names()));
        all.sort_unstable();
        all.dedup();
        all
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match (self.tables.find(name).await?, &self.attached) {
            (Some(Found::Table(table)), _) => Ok(Some(table)),
            (Some(Found::View { sql, schema }), _) => {
                let name = self.tables.full_name(name);
                Ok(Some(Arc::new(StoredView { name, query: sql, catalog: None, schema })))
            }
            (None, Some(graph)) => graph.table(name).await,
            (None, None) => Ok(None),
        }
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        match (self.tables.table_type(name)?, &self.attached) {
            (None, Some(graph)) => graph.table_type(name).await,
            (found, _) => Ok(found),
        }
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        if self.table_exist(&name) {
            return raise!(AlreadyExists, "the table {} exists already", self.tables.full_name(&name));
        }
        self.tables.register_table(&name, table);
        Ok(None)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let gone = || Arc::new(EmptyTable::new(Arc::new(arrow::datatypes::Schema::empty()))) as Arc<dyn TableProvider>;
        Ok(self.drop_table(name)?.then(gone))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.table_exist(name) || self.attached.as_ref().is_some_and(|graph| graph.table_exist(name))
    }
}
