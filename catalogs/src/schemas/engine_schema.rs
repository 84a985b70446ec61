//! Schemas as statements see them: DataFusion's providers, extended by what its DDL leaves out.
//!
//! Every kind of schema (in memory, lasting, attached, of the system) implements [`EngineSchema`]. The defaults are those of
//! memory.

use std::sync::Arc;

use bonnet_common::{ErrorKind, Raised, raise};
use bonnet_datasets::Dataset;
use datafusion::catalog::SchemaProvider;
use datafusion::common::{Result, plan_err};
use datafusion::datasource::TableProvider;
use datafusion::execution::SessionState;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::kept_table::{Kept, KeptTable};
use super::stored_view::StoredView;
use crate::ground::column_change::ColumnChange;
use crate::ground::graph_facts::GraphFacts;
use crate::ground::new_table::NewTable;
use crate::memory::memory_table::MemoryTable;

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

    /// What stands under a name now; none where nothing does.
    ///
    /// # Errors
    /// If it cannot be read.
    fn kept<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Option<KeptTable>>> {
        async move { Ok(self.table(table).await?.map(|table| KeptTable(Kept::Provider(table)))) }.boxed()
    }

    /// Puts back what stood under a name and was dropped or replaced. The name is free.
    ///
    /// # Errors
    /// If it is taken, or what stood there is gone for good.
    fn put_back(&self, table: &str, kept: &KeptTable) -> Result<()> {
        match &kept.0 {
            Kept::Provider(kept) => put(self, table, Arc::clone(kept), false),
            Kept::Entry(_) => plan_err!("{table} is no table of this schema"),
        }
    }

    /// Gives a table, which is there, another name in its schema.
    ///
    /// # Errors
    /// If the name is taken, or the table stays as it is.
    fn rename_table(&self, table: &str, to: &str) -> Result<()> {
        if self.table_exist(to) {
            let error = Raised::new(ErrorKind::AlreadyExists, format!("the table {to} exists already"));
            return Err(error.advise("DROP it first").into());
        }
        match self.deregister_table(table)? {
            Some(found) => self.register_table(to.to_owned(), found).map(|_| ()),
            None => raise!(UnknownTable, "there is no table {table}"),
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
            let Some(found) = self.table(table).await? else {
                return raise!(UnknownTable, "there is no table {table}");
            };
            let Some(rows) = found.downcast_ref::<MemoryTable>() else {
                return plan_err!("{table} was registered by a program or reads files, which give it its columns");
            };
            put(self, table, Arc::new(rows.with_columns(table, change, state).await?), true)
        }
        .boxed()
    }
}

fn put<S: EngineSchema + ?Sized>(schema: &S, name: &str, table: Arc<dyn TableProvider>, replace: bool) -> Result<()> {
    if schema.table_exist(name) {
        if !replace {
            let error = Raised::new(ErrorKind::AlreadyExists, format!("the table {name} exists already"));
            return Err(error.advise("CREATE OR REPLACE, or DROP it first").into());
        }
        schema.drop_table(name)?;
    }
    schema.register_table(name.to_owned(), table).map(|_| ())
}
