//! A database as a catalog: its schemas, and in them Delta tables, views, and the tables of attached graphs.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bonnet_datasets::{Dataset, Opened};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::datasource::empty::EmptyTable;
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::sql::unparser::expr_to_sql;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};

use super::damage;
use super::database::{Database, lock};
use super::entry::{self, Attachment, Entry, GraphFacts};
use super::store::{self, Appender};
use super::table::LastingTable;
use super::{names, new_columns, types};
use crate::column_change::ColumnChange;
use crate::engine_catalog::{EngineCatalog, EngineSchema};
use crate::error::external;
use crate::faulty_schema::FaultySchema;
use crate::graph_schema::GraphSchema;
use crate::new_table::{MAIN_SCHEMA, NewGraph, NewTable};
use crate::stored_view::StoredView;

/// Attached graphs by the names of their schemas.
type OpenGraphs = Mutex<HashMap<String, (Attachment, Arc<GraphSchema>)>>;

/// How often a change of columns is tried where other statements commit meanwhile.
const REWRITES: usize = 20;

/// The most bytes of a table's name as a file's: file systems take 255, an ending and a number included.
const LONGEST_NAME: usize = 200;

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
        if let Some((by, graph)) = lock(&self.graphs).get(schema)
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
        lock(&self.graphs).insert(schema.to_owned(), (attached.clone(), Arc::clone(&graph)));
        Ok(graph)
    }

    async fn write_graph(&self, schema: &str, graph: NewGraph, replace: bool) -> Result<()> {
        let NewGraph { facts, tables, .. } = graph;
        let mut built = Vec::new();
        for (table, rows) in tables {
            let Some(first) = rows.first() else { return internal_err!("the table {table} has no batch") };
            let name = format!("{schema}.{table}");
            let building = self.database.build(schema, table)?;
            let columns = types::storable(&first.schema())?;
            let mut files = Appender::new(&building.path(), &name, &columns, &[])?;
            for rows in &rows {
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
            self.database.remove_entries(&folder);
        }
        Ok(())
    }
}

impl EngineCatalog for LastingCatalog {
    fn schema_names(&self) -> Vec<String> {
        entry::list(&self.database.catalog()).unwrap_or_default()
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
        let (database, name, facts) = (Arc::clone(&self.database), name.to_owned(), found.graph);
        Some(Arc::new(LastingSchema { database, name, folder: found.folder, facts, attached }))
    }

    fn register_schema(&self, name: &str, _: Arc<dyn EngineSchema>) -> Result<()> {
        let _lock = self.database.lock()?;
        let path = self.database.schema_path(name);
        if entry::read(&path)?.is_some() {
            return plan_err!("the schema {name} exists already");
        }
        let folder = self.database.schema_folder(name)?;
        Ok(entry::write(&path, &Entry::Schema { folder, graph: None, attached: None })?)
    }

    fn drop_schema(&self, name: &str, cascade: bool) -> Result<bool> {
        if name == MAIN_SCHEMA {
            return plan_err!("the schema {MAIN_SCHEMA} belongs to the database and cannot be dropped");
        }
        let _lock = self.database.lock()?;
        let path = self.database.schema_path(name);
        // One that is damaged names no folder; VACUUM removes what it named.
        let entry = entry::read(&path);
        if let Ok(Some(Entry::Schema { folder, .. })) = &entry
            && !cascade
        {
            let tables = entry::list(&self.database.catalog().join(folder))?;
            if !tables.is_empty() {
                let tables = tables.join(", ");
                return plan_err!("schema {name} has the tables {tables}; DROP SCHEMA {name} CASCADE drops them too");
            }
        }
        let found = entry::remove(&path)?;
        if let Ok(Some(Entry::Schema { folder, .. })) = entry {
            // Out of reach without its schema; VACUUM removes what is left.
            self.database.remove_entries(&folder);
        }
        Ok(found)
    }

    fn create_graph<'a>(&'a self, name: &'a str, graph: NewGraph, replace: bool) -> BoxFuture<'a, Result<()>> {
        self.write_graph(name, graph, replace).boxed()
    }

    fn database(&self) -> Option<&Arc<Database>> {
        Some(&self.database)
    }
}

/// A schema of a database.
struct LastingSchema {
    database: Arc<Database>,
    name: String,
    folder: PathBuf,
    facts: Option<GraphFacts>,
    attached: Option<Arc<GraphSchema>>,
}

impl fmt::Debug for LastingSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastingSchema").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LastingSchema {
    fn path(&self, table: &str) -> PathBuf {
        self.folder.join(format!("{}.json", names::encode(table)))
    }

    /// A table's name with its schema's, unless that is the one of tables without a schema.
    fn full_name(&self, table: &str) -> String {
        if self.name == MAIN_SCHEMA { table.to_owned() } else { format!("{}.{table}", self.name) }
    }

    async fn write_table(&self, table: &str, new: NewTable, replace: bool) -> Result<()> {
        let name = self.full_name(table);
        self.check_new(table)?;
        if new.constraints.iter().next().is_some() {
            return plan_err!("{name}: Delta tables keep no PRIMARY KEY and no UNIQUE: leave them out");
        }
        let columns = types::storable(&new.columns)?;
        let defaults = new.defaults.iter().map(|(column, value)| Ok((column.clone(), default_sql(value)?)));
        let defaults = defaults.collect::<Result<Vec<_>>>()?;
        let building = self.database.build(&self.name, table)?;
        let mut files = Appender::new(&building.path(), &name, &columns, &[])?;
        let mut rows = new.rows.execute_stream().await?;
        while let Some(batch) = rows.next().await.transpose()? {
            files.write(&batch).await?;
        }
        let added = store::synced(&building.path(), files.take().await?).await?;
        store::create(&building.path(), &name, &columns, added).await?;
        self.put(table, &Entry::Table { folder: building.folder.clone(), defaults }, replace)?;
        building.keep();
        Ok(())
    }

    /// Changes the columns of a table. Its defaults stand in the catalog: a new one is there before its column, and one that
    /// goes after it.
    async fn alter(&self, table: &str, change: &ColumnChange, state: &SessionState) -> Result<()> {
        let Some(Entry::Table { folder, defaults }) = self.entry(table)? else {
            return plan_err!("{} was registered by a program, which gives it its columns", self.full_name(table));
        };
        let name = self.full_name(table);
        let lasting = LastingTable::of(&self.database, name.clone(), folder.clone(), &defaults).await?;
        lasting.writable()?;
        let columns = lasting.schema();
        // What cannot be is refused before anything is written.
        let changed = change.of(&name, &columns)?;
        let default_of = |column: &str| defaults.iter().find(|(known, _)| known == column).map(|(_, sql)| sql.clone());
        let mut after = changed.defaults(&columns, default_of);
        if let ColumnChange::Add { field, default: Some(default) } = change {
            after.push((field.name().clone(), default_sql(default)?));
        }
        let goes = |(column, _): &&(String, String)| {
            columns.index_of(column).is_ok() && after.iter().all(|(kept, _)| kept != column)
        };
        let before: Vec<_> = after.iter().chain(defaults.iter().filter(goes)).cloned().collect();
        if before != defaults {
            self.set_defaults(table, &folder, before.clone())?;
        }
        let changed = self.rewritten(&lasting, table, change, state).await;
        let last = if changed.is_ok() { after } else { defaults };
        if last != before {
            self.set_defaults(table, &folder, last)?;
        }
        changed
    }

    /// Writes a table anew with other columns, again where another commit comes first.
    async fn rewritten(
        &self,
        lasting: &LastingTable,
        table: &str,
        change: &ColumnChange,
        state: &SessionState,
    ) -> Result<()> {
        let name = self.full_name(table);
        for _ in 0..REWRITES {
            let now = lasting.now().await?;
            let aside = self.database.build(&self.name, table)?;
            if new_columns::run(&now, &aside.path(), &name, state, change).await? {
                return Ok(());
            }
        }
        exec_err!(
            "other statements changed {name} each time while this one ran; nothing of this one was kept: run it again once they \
             have ended"
        )
    }

    fn set_defaults(&self, table: &str, folder: &str, defaults: Vec<(String, String)>) -> Result<()> {
        let _lock = self.database.lock()?;
        match self.entry(table)? {
            Some(Entry::Table { folder: there, .. }) if there == folder => {
                Ok(entry::write(&self.path(table), &Entry::Table { folder: there, defaults })?)
            }
            _ => exec_err!("{} was dropped while the statement ran", self.full_name(table)),
        }
    }

    fn check_new(&self, table: &str) -> Result<()> {
        self.database.writable()?;
        let bytes = names::encode(table).len();
        if bytes > LONGEST_NAME {
            return plan_err!(
                "the name '{table}' is too long: it takes {bytes} bytes in the name of a file, where a letter other than a-z, 0-9 \
                 and _ takes three for each of its bytes, and a lasting table has {LONGEST_NAME}: shorten it"
            );
        }
        self.attached.as_ref().map_or(Ok(()), |graph| graph.check_new(table))
    }

    /// The error of an entry that is of no table and no view.
    fn no_table(&self, name: &str) -> DataFusionError {
        let error = io::Error::new(
            io::ErrorKind::InvalidData,
            format!("'{}' is damaged: it is the entry of a schema", self.path(name).display()),
        );
        self.damaged_entry(name, &error).into()
    }

    /// The entry of a table or view.
    fn entry(&self, table: &str) -> Result<Option<Entry>> {
        Ok(entry::read(&self.path(table)).map_err(|error| self.damaged_entry(table, &error))?)
    }

    /// The error of an entry that cannot be read. Its table is no longer used by anything, but its files are there.
    fn damaged_entry(&self, table: &str, error: &io::Error) -> io::Error {
        let name = self.full_name(table);
        let remedy = match error.kind() {
            io::ErrorKind::IsADirectory => "move it away".to_owned(),
            _ => format!(
                "restore it from a copy of the database, or DROP TABLE {name} forgets it, and VACUUM removes its files a week \
                 later"
            ),
        };
        let text = format!("{name} cannot be read: {error}; {remedy}");
        io::Error::new(error.kind(), text)
    }

    fn put(&self, table: &str, entry: &Entry, replace: bool) -> Result<()> {
        let path = self.path(table);
        let _lock = self.database.lock()?;
        if !self.folder.is_dir() {
            self.database.schema_entry(&self.name).map_err(|why| exec_datafusion_err!("{why}"))?;
            return exec_err!("the schema {} was dropped while the statement ran", self.name);
        }
        // One that is damaged can be replaced.
        let before = entry::read(&path).transpose();
        if !replace && before.is_some() {
            return plan_err!(
                "the table {} exists already: CREATE OR REPLACE, or DROP it first",
                self.full_name(table)
            );
        }
        entry::write(&path, entry)?;
        if let Some(Ok(before)) = before {
            self.database.mark_dropped(&before);
        }
        Ok(())
    }
}

impl EngineSchema for LastingSchema {
    fn facts(&self) -> Option<&GraphFacts> {
        self.facts.as_ref()
    }

    fn dataset(&self) -> Option<&Arc<dyn Dataset>> {
        self.attached.as_ref()?.dataset()
    }

    fn database(&self) -> Option<&Arc<Database>> {
        Some(&self.database)
    }

    fn damaged(&self) -> Vec<(String, String)> {
        let names = entry::list(&self.folder).unwrap_or_default().into_iter();
        let fault = |name: String| {
            let why = match self.entry(&name) {
                Ok(Some(Entry::Table { folder, .. })) => {
                    damage::without_log(&self.full_name(&name), &self.database.table_path(&folder))?
                }
                Ok(Some(Entry::View { .. }) | None) => return None,
                Ok(Some(_)) => self.no_table(&name),
                Err(error) => error,
            };
            Some((name, why))
        };
        names.filter_map(fault).map(|(name, why)| (name, text(&why))).collect()
    }

    fn why_not_drop(&self, table: &str) -> Option<String> {
        self.attached.as_ref()?.why_not_drop(table)
    }

    fn create_table<'a>(&'a self, table: &'a str, new: NewTable, replace: bool) -> BoxFuture<'a, Result<()>> {
        self.write_table(table, new, replace).boxed()
    }

    fn create_view(&self, view: StoredView, replace: bool) -> Result<()> {
        self.check_new(&view.name)?;
        self.put(&view.name, &Entry::View { sql: view.query, schema: view.schema }, replace)
    }

    /// Its files stay until VACUUM.
    fn drop_table(&self, table: &str) -> Result<bool> {
        if self.database.unregister(&self.name, table).is_some() {
            return Ok(true);
        }
        if let Some(why) = self.why_not_drop(table) {
            return plan_err!("{why}");
        }
        let _lock = self.database.lock()?;
        let path = self.path(table);
        let before = entry::read(&path);
        let found = entry::remove(&path)?;
        if let Ok(Some(before)) = before {
            self.database.mark_dropped(&before);
        }
        Ok(found)
    }

    fn rename_table(&self, table: &str, to: &str) -> Result<()> {
        self.check_new(to)?;
        if self.database.registered(&self.name, table).is_some() {
            return plan_err!("{} was registered by a program, which gives it its name", self.full_name(table));
        }
        let _lock = self.database.lock()?;
        if self.table_exist(to) {
            return plan_err!("the table {} exists already: DROP it first", self.full_name(to));
        }
        Ok(entry::rename(&self.path(table), &self.path(to))?)
    }

    fn change_columns<'a>(
        &'a self,
        table: &'a str,
        change: &'a ColumnChange,
        state: &'a SessionState,
    ) -> BoxFuture<'a, Result<()>> {
        self.alter(table, change, state).boxed()
    }

    fn lasting_table<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Option<LastingTable>>> {
        async move {
            match self.entry(table)? {
                Some(Entry::Table { folder, defaults }) => {
                    LastingTable::of(&self.database, self.full_name(table), folder, &defaults).await.map(Some)
                }
                Some(Entry::View { .. }) | None => Ok(None),
                Some(_) => Err(self.no_table(table)),
            }
        }
        .boxed()
    }
}

/// The text of an error, without the name of its class.
fn text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::IoError(error) => error.to_string(),
        other => other.strip_backtrace(),
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
        let mut all = entry::list(&self.folder).unwrap_or_default();
        all.extend(self.database.registered_names(&self.name));
        all.extend(self.attached.iter().flat_map(|graph| graph.table_names()));
        all.sort_unstable();
        all.dedup();
        all
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(table) = self.database.registered(&self.name, name) {
            return Ok(Some(table));
        }
        match self.entry(name)? {
            Some(Entry::Table { .. }) => Ok(self.lasting_table(name).await?.map(|table| Arc::new(table) as _)),
            Some(Entry::View { sql, schema }) => {
                Ok(Some(Arc::new(StoredView { name: self.full_name(name), query: sql, catalog: None, schema })))
            }
            Some(_) => Err(self.no_table(name)),
            None => match &self.attached {
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
            None => match &self.attached {
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
        Ok(self.drop_table(name)?.then(gone))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.database.registered(&self.name, name).is_some()
            || self.path(name).symlink_metadata().is_ok()
            || self.attached.as_ref().is_some_and(|graph| graph.table_exist(name))
    }
}
