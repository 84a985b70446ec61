//! A database as a catalog: its schemas, and in them Delta tables, views, and the tables of attached graphs.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, exec_err, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::datasource::empty::EmptyTable;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::Expr;
use datafusion::sql::unparser::expr_to_sql;
use futures::StreamExt;

use super::database::{Database, MAIN};
use super::entry::{self, Attachment, Entry, GraphFacts};
use super::store::{self, Appender};
use super::table::LastingTable;
use super::{names, types};
use crate::attached::GraphSchema;
use crate::stored_view::StoredView;

/// A database as a catalog.
#[derive(Debug, Clone)]
pub struct LastingCatalog {
    database: Arc<Database>,
}

impl LastingCatalog {
    /// The catalog of this database.
    pub fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    /// The database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Remembers an attached graph as the schema `name`.
    ///
    /// # Errors
    /// If the name is taken, or the database cannot be changed.
    pub fn attach_schema(&self, name: &str, attached: Attachment) -> Result<()> {
        let _lock = self.database.lock()?;
        let path = self.database.schema_path(name);
        if entry::read(&path)?.is_some() {
            return plan_err!("the schema {name} exists already");
        }
        let folder = self.database.schema_folder(name)?;
        Ok(entry::write(&path, &Entry::Schema { folder, graph: None, attached: Some(attached) })?)
    }

    /// Remembers an attached catalog.
    ///
    /// # Errors
    /// If the database cannot be changed.
    pub fn attach_catalog(&self, name: &str, attached: Attachment) -> Result<()> {
        let _lock = self.database.lock()?;
        Ok(entry::write(&self.database.attached_path(name), &Entry::Catalog { attached })?)
    }

    /// Forgets an attached catalog; whether it was remembered.
    ///
    /// # Errors
    /// If the database cannot be changed.
    pub fn detach_catalog(&self, name: &str) -> Result<bool> {
        if self.database.is_read_only() {
            return Ok(false);
        }
        let _lock = self.database.lock()?;
        Ok(entry::remove(&self.database.attached_path(name))?)
    }

    /// The attached catalogs that are remembered.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn attached_catalogs(&self) -> Result<Vec<(String, Attachment)>> {
        let mut found = Vec::new();
        for name in entry::list(&self.database.root().join("attached"))? {
            if let Some(Entry::Catalog { attached }) = entry::read(&self.database.attached_path(&name))? {
                found.push((name, attached));
            }
        }
        Ok(found)
    }

    /// Makes the schema of a graph, with its tables, or replaces a schema by it: all in one step.
    ///
    /// # Errors
    /// If the rows cannot be written, or the schema exists and is not to be replaced.
    pub async fn create_graph(
        &self,
        schema: &str,
        facts: GraphFacts,
        tables: &[(&str, Vec<RecordBatch>)],
        replace: bool,
    ) -> Result<()> {
        let mut built = Vec::new();
        for &(table, ref rows) in tables {
            let Some(first) = rows.first() else { return internal_err!("the table {table} has no batch") };
            let name = format!("{schema}.{table}");
            let building = self.database.build(schema, table)?;
            let columns = types::storable(&first.schema())?;
            let mut files = Appender::new(&building.path(), &name, &columns, &[])?;
            for rows in rows {
                files.write(rows).await?;
            }
            let added = store::synced(&building.path(), files.take().await?).await?;
            store::create(&building.path(), &name, &columns, added).await?;
            built.push((table, building));
        }
        let _lock = self.database.lock()?;
        let path = self.database.schema_path(schema);
        let before = entry::read(&path)?;
        match &before {
            Some(_) if !replace => return plan_err!("the schema {schema} exists already"),
            Some(Entry::Schema { attached: Some(_), .. }) => {
                return plan_err!("{schema} is attached, not made here: DETACH {schema} first");
            }
            _ => {}
        }
        let folder = self.database.schema_folder(schema)?;
        let entries = self.database.catalog().join(&folder);
        for (table, building) in &built {
            let table_entry = Entry::Table { folder: building.folder.clone(), defaults: Vec::new() };
            entry::write(&entries.join(format!("{table}.json")), &table_entry)?;
        }
        entry::write(&path, &Entry::Schema { folder, graph: Some(facts), attached: None })?;
        built.into_iter().for_each(|(_, building)| building.keep());
        if let Some(Entry::Schema { folder, .. }) = before {
            let _ = std::fs::remove_dir_all(self.database.catalog().join(folder));
        }
        Ok(())
    }
}

impl CatalogProvider for LastingCatalog {
    fn schema_names(&self) -> Vec<String> {
        entry::list(&self.database.catalog()).unwrap_or_default()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let schema = |kind| {
            let schema = LastingSchema { database: Arc::clone(&self.database), name: name.to_owned(), kind };
            Some(Arc::new(schema) as Arc<dyn SchemaProvider>)
        };
        match entry::read(&self.database.schema_path(name)) {
            Ok(None) => None,
            Ok(Some(Entry::Schema { folder, graph, attached })) => {
                let attached = match attached.map(|attached| self.database.graph(name, &attached)) {
                    None => None,
                    Some(Ok(graph)) => Some(graph),
                    // The schema is there, and says why it cannot be read.
                    Some(Err(error)) => return schema(Kind::Broken(error.strip_backtrace())),
                };
                schema(Kind::Whole { folder: self.database.catalog().join(folder), facts: graph, attached })
            }
            Ok(Some(_)) => schema(Kind::Broken(format!("the catalog's entry of {name} is of no schema"))),
            Err(error) => schema(Kind::Broken(error.to_string())),
        }
    }

    fn register_schema(&self, name: &str, _: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        let _lock = self.database.lock()?;
        let path = self.database.schema_path(name);
        if entry::read(&path)?.is_some() {
            return plan_err!("the schema {name} exists already");
        }
        let folder = self.database.schema_folder(name)?;
        entry::write(&path, &Entry::Schema { folder, graph: None, attached: None })?;
        Ok(None)
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        if name == MAIN {
            return plan_err!("the schema {MAIN} belongs to the database and cannot be dropped");
        }
        let _lock = self.database.lock()?;
        let Some(schema) = self.schema(name) else { return Ok(None) };
        let path = self.database.schema_path(name);
        if let Some(Entry::Schema { folder, .. }) = entry::read(&path)? {
            let entries = self.database.catalog().join(folder);
            let tables = entry::list(&entries)?;
            if !cascade && !tables.is_empty() {
                let tables = tables.join(", ");
                return plan_err!("schema {name} has the tables {tables}; DROP SCHEMA {name} CASCADE drops them too");
            }
            entry::remove(&path)?;
            // Without its schema nobody finds it; VACUUM removes what is left.
            let _ = std::fs::remove_dir_all(entries);
        }
        Ok(Some(schema))
    }
}

/// A schema of a database.
pub struct LastingSchema {
    database: Arc<Database>,
    name: String,
    kind: Kind,
}

enum Kind {
    Whole {
        folder: PathBuf,
        facts: Option<GraphFacts>,
        attached: Option<Arc<GraphSchema>>,
    },
    /// Why it cannot be read.
    Broken(String),
}

impl fmt::Debug for LastingSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastingSchema").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a new table is made of.
pub struct NewTable {
    /// The columns of the rows.
    pub schema: SchemaRef,
    /// The rows; none for an empty table.
    pub rows: Option<SendableRecordBatchStream>,
    /// The defaults of columns.
    pub defaults: Vec<(String, Expr)>,
}

impl LastingSchema {
    /// The database whose schema this is.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The attached graph that the schema stands for, if any.
    pub fn attached(&self) -> Option<&Arc<GraphSchema>> {
        match &self.kind {
            Kind::Whole { attached, .. } => attached.as_ref(),
            Kind::Broken(_) => None,
        }
    }

    /// What is known of the graph, if it was made here as one.
    pub fn facts(&self) -> Option<&GraphFacts> {
        match &self.kind {
            Kind::Whole { facts, .. } => facts.as_ref(),
            Kind::Broken(_) => None,
        }
    }

    /// Whether the schema is in the catalog but cannot be read.
    pub fn is_broken(&self) -> bool {
        matches!(self.kind, Kind::Broken(_))
    }

    fn folder(&self) -> Result<&PathBuf> {
        match &self.kind {
            Kind::Whole { folder, .. } => Ok(folder),
            Kind::Broken(why) => exec_err!("the schema {}: {why}; DETACH or DROP SCHEMA {0} forgets it", self.name),
        }
    }

    fn path(&self, table: &str) -> Result<PathBuf> {
        Ok(self.folder()?.join(format!("{}.json", names::encode(table))))
    }

    fn entry(&self, table: &str) -> Result<Option<Entry>> {
        Ok(entry::read(&self.path(table)?)?)
    }

    /// A table's name with its schema's, unless that is the one of tables without a schema.
    fn full_name(&self, table: &str) -> String {
        if self.name == MAIN { table.to_owned() } else { format!("{}.{table}", self.name) }
    }

    /// Makes a table of these rows, or replaces a table or view by it: it appears with all its rows, or not at all.
    ///
    /// # Errors
    /// If a column has a type or name that Delta lacks, the rows fail or cannot be written, or the name is taken and not
    /// to be replaced.
    pub async fn create_table(&self, table: &str, new: NewTable, replace: bool) -> Result<u64> {
        let name = self.full_name(table);
        self.refuse_own(table)?;
        let columns = types::storable(&new.schema)?;
        let defaults = new.defaults.iter().map(|(column, value)| Ok((column.clone(), default_sql(value)?)));
        let defaults = defaults.collect::<Result<Vec<_>>>()?;
        let building = self.database.build(&self.name, table)?;
        let mut files = Appender::new(&building.path(), &name, &columns, &[])?;
        if let Some(mut rows) = new.rows {
            while let Some(batch) = rows.next().await.transpose()? {
                files.write(&batch).await?;
            }
        }
        let count = files.rows;
        let added = store::synced(&building.path(), files.take().await?).await?;
        store::create(&building.path(), &name, &columns, added).await?;
        self.put(table, &Entry::Table { folder: building.folder.clone(), defaults }, replace)?;
        building.keep();
        Ok(count)
    }

    /// Makes a view, or replaces a table or view by it. The names in its query are looked up in this catalog, and in
    /// the schema `names_in` where they have none.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced.
    pub fn create_view(&self, view: &str, query: &str, names_in: &str, replace: bool) -> Result<()> {
        self.refuse_own(view)?;
        self.put(view, &Entry::View { sql: query.to_owned(), schema: names_in.to_owned() }, replace)
    }

    fn refuse_own(&self, table: &str) -> Result<()> {
        self.database.writable()?;
        match self.attached() {
            Some(graph) => graph.check_new(table),
            None => self.folder().map(|_| ()),
        }
    }

    fn put(&self, table: &str, entry: &Entry, replace: bool) -> Result<()> {
        let path = self.path(table)?;
        let _lock = self.database.lock()?;
        if !self.folder()?.is_dir() {
            return exec_err!("the schema {} was dropped while the statement ran", self.name);
        }
        if !replace && entry::read(&path)?.is_some() {
            return plan_err!(
                "the table {} exists already: CREATE OR REPLACE, or DROP it first",
                self.full_name(table)
            );
        }
        Ok(entry::write(&path, entry)?)
    }

    /// Forgets a table or view; whether there was one. Its files stay until VACUUM.
    ///
    /// # Errors
    /// If the database cannot be changed.
    pub fn drop(&self, table: &str) -> Result<bool> {
        if self.database.unregister(&self.name, table).is_some() {
            return Ok(true);
        }
        if let Some(graph) = self.attached()
            && let Some(why) = graph.keeps(table)
        {
            return plan_err!("{why}");
        }
        let _lock = self.database.lock()?;
        Ok(entry::remove(&self.path(table)?)?)
    }

    /// The Delta table of this name, if it is one.
    ///
    /// # Errors
    /// If its files cannot be read.
    pub async fn delta_table(&self, table: &str) -> Result<Option<LastingTable>> {
        LastingTable::of(&self.database, self.full_name(table), self.path(table)?).await
    }
}

/// A default as SQL, which is read again when the database is opened.
fn default_sql(value: &Expr) -> Result<String> {
    let mut constant = true;
    value.apply(|expr| {
        constant &= !matches!(expr, Expr::ScalarFunction(_) | Expr::Column(_));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !constant {
        return plan_err!("DEFAULT {value}: the default of a lasting table is a constant");
    }
    Ok(expr_to_sql(value)?.to_string())
}

#[async_trait]
impl SchemaProvider for LastingSchema {
    fn table_names(&self) -> Vec<String> {
        let Kind::Whole { folder, attached, .. } = &self.kind else { return Vec::new() };
        let mut all = entry::list(folder).unwrap_or_default();
        all.extend(self.database.registered_names(&self.name));
        all.extend(attached.iter().flat_map(|graph| graph.table_names()));
        all.sort_unstable();
        all.dedup();
        all
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(table) = self.database.registered(&self.name, name) {
            return Ok(Some(table));
        }
        match self.entry(name)? {
            Some(Entry::Table { .. }) => {
                let table = LastingTable::of(&self.database, self.full_name(name), self.path(name)?).await?;
                Ok(table.map(|table| Arc::new(table) as _))
            }
            Some(Entry::View { sql, schema }) => {
                Ok(Some(Arc::new(StoredView { name: self.full_name(name), query: sql, schema })))
            }
            Some(_) => exec_err!("the catalog's entry of {} is of no table", self.full_name(name)),
            None => match self.attached() {
                Some(graph) => graph.table(name).await,
                None => Ok(None),
            },
        }
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        if let Some(table) = self.database.registered(&self.name, name) {
            return Ok(Some(table.table_type()));
        }
        match self.entry(name)? {
            Some(Entry::View { .. }) => Ok(Some(TableType::View)),
            Some(_) => Ok(Some(TableType::Base)),
            None => match self.attached() {
                Some(graph) => graph.table_type(name).await,
                None => Ok(None),
            },
        }
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        if self.table_exist(&name) {
            return plan_err!("the table {} exists already", self.full_name(&name));
        }
        self.database.register(&self.name, &name, table);
        Ok(None)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let gone = || Arc::new(EmptyTable::new(Arc::new(arrow::datatypes::Schema::empty()))) as Arc<dyn TableProvider>;
        Ok(self.drop(name)?.then(gone))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.database.registered(&self.name, name).is_some()
            || self.path(name).is_ok_and(|path| path.is_file())
            || self.attached().is_some_and(|graph| graph.table_exist(name))
    }
}
