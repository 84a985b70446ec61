//! A Delta table as DataFusion reads and changes it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use bonnet_common::{Version, raise};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result, SchemaExt, exec_err};
use datafusion::datasource::TableType;
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use deltalake::DeltaTable;
use deltalake::delta_datafusion::DeltaScanNext;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, StreamExt};

use super::copy_on_write;
use super::database::{Database, TableSnapshot};
use super::fast::plain::PlainFiles;
use super::history::{self, History};
use super::removal_lock::RemovalLock;
use super::store::{self, Appender};
use crate::ground::change_exec::{ChangeExec, RowChange, session_state};
use crate::ground::committed_rows::CommittedRows;
use crate::ground::table_methods::{Planned, table_methods};
use crate::ground::table_version::{TableVersion, VersionedTable};

/// A Delta table at one version.
#[derive(Clone)]
pub struct LastingTable {
    name: String,
    /// At its version, but perhaps with the files of an earlier one.
    snapshot: TableSnapshot,
    /// The scan: its columns, and if `snapshot` knows them, its files.
    scan: Arc<DeltaScanNext>,
    defaults: Arc<HashMap<String, Expr>>,
    access: Access,
}

/// The right to change a table.
#[derive(Clone)]
enum Access {
    /// The database whose table this is, and the folder in it.
    Database(Arc<Database>, String),
    /// Nobody, for this reason.
    Read(&'static str),
}

impl fmt::Debug for LastingTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastingTable").field("name", &self.name).field("version", &self.snapshot.version).finish()
    }
}

fn scan_of(table: &DeltaTable, name: &str) -> Result<DeltaScanNext> {
    let snapshot = table.snapshot().map_err(|error| store::failed(name, error))?.snapshot().clone();
    DeltaScanNext::new(snapshot, store::scan_config())
}

impl LastingTable {
    fn new(name: String, snapshot: TableSnapshot, defaults: HashMap<String, Expr>, access: Access) -> Result<Self> {
        let scan = Arc::new(scan_of(&snapshot.table, &name)?);
        Ok(Self { name, snapshot, scan, defaults: Arc::new(defaults), access })
    }

    /// A table whose files are known.
    fn of_files(name: String, table: DeltaTable, defaults: HashMap<String, Expr>, access: Access) -> Result<Self> {
        Self::new(name, TableSnapshot::new(table), defaults, access)
    }

    /// The table of a database in this folder as it is now.
    pub(super) async fn of(
        database: &Arc<Database>,
        name: String,
        folder: String,
        defaults: &[(String, String)],
    ) -> Result<Self> {
        let snapshot = database.snapshot(&folder, &name).await?;
        Self::new(name, snapshot, parsed(defaults)?, Access::Database(Arc::clone(database), folder))
    }

    /// Somebody else's Delta table, in this folder, for reading.
    ///
    /// # Errors
    /// If the folder holds none.
    pub async fn at(folder: &std::path::Path) -> Result<Self> {
        let name = folder.display().to_string();
        let delta = store::open(folder, &name).await?;
        let why = "it belongs to another program: CREATE TABLE ... AS SELECT copies it";
        Self::of_files(name, delta, HashMap::new(), Access::Read(why))
    }

    /// The table with its files.
    async fn delta(&self) -> Result<DeltaTable> {
        Ok(self.with_files().await?.table)
    }

    async fn with_files(&self) -> Result<TableSnapshot> {
        match &self.access {
            Access::Database(database, folder) => database.with_files(folder, &self.name, self.snapshot.clone()).await,
            Access::Read(_) => Ok(self.snapshot.clone()),
        }
    }

    /// Its rows, for those who compare them.
    pub(crate) fn table_version(&self) -> Result<TableVersion> {
        let snapshot = self.snapshot.table.snapshot().map_err(|error| store::failed(&self.name, error))?;
        // The table's own id: another table may come to stand in the folder. A version of the past is no table that
        // changes.
        let past = if matches!(self.access, Access::Database(..)) { "" } else { &self.name };
        let table = format!("delta {} {} {past}", self.location()?.display(), snapshot.metadata().id());
        Ok(TableVersion { table, version: self.snapshot.version.to_string() })
    }

    /// The number of its version.
    pub(crate) fn number(&self) -> u64 {
        self.snapshot.version
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The folder of its files.
    ///
    /// # Errors
    /// If they are not on this machine.
    pub fn location(&self) -> Result<std::path::PathBuf> {
        store::folder(&self.snapshot.table)
    }

    /// Refuses a change that the table cannot take.
    pub(crate) fn writable(&self) -> Result<()> {
        match &self.access {
            Access::Read(why) => return raise!(ReadOnly, "{} cannot be changed: {why}", self.name),
            Access::Database(database, ..) => database.writable()?,
        }
        let metadata =
            self.snapshot.table.snapshot().map_err(|error| store::failed(&self.name, error))?.metadata().clone();
        let foreign = |key: &&String| key.starts_with("delta.constraints.") || *key == "delta.columnMapping.mode";
        match metadata.configuration().keys().find(foreign) {
            Some(key) => exec_err!(
                "{} cannot be changed here: another program gave it {key}, which is read but not written",
                self.name
            ),
            None => Ok(()),
        }
    }

    /// The table as it is now, for a statement that was planned before.
    pub(super) async fn now(&self) -> Result<DeltaTable> {
        match &self.access {
            Access::Database(database, folder) => database.table(folder, &self.name).await,
            Access::Read(_) => Ok(self.snapshot.table.clone()),
        }
    }
}

/// The defaults of columns, read from their SQL.
fn parsed(defaults: &[(String, String)]) -> Result<HashMap<String, Expr>> {
    if defaults.is_empty() {
        return Ok(HashMap::new());
    }
    let state = SessionStateBuilder::new_with_default_features().build();
    let parse =
        |(column, sql): &(String, String)| Ok((column.clone(), state.create_logical_expr(sql, &DFSchema::empty())?));
    defaults.iter().map(parse).collect()
}

impl TableProvider for LastingTable {
    fn schema(&self) -> SchemaRef {
        self.scan.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.defaults.get(column)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // A condition that the files alone do not answer is looked at again above them: they may be read in two ways.
        let mut supported = self.scan.supports_filters_pushdown(filters)?;
        for supported in supported.iter_mut().filter(|it| **it == TableProviderFilterPushDown::Exact) {
            *supported = TableProviderFilterPushDown::Inexact;
        }
        Ok(supported)
    }

    table_methods! {
        scan by plan_scan;
        insert_into by plan_insert;
        changes by plan_change;
        truncate by plan_change;
    }
}

impl VersionedTable for LastingTable {
    fn row_version<'a>(&'a self, _: &'a SessionState) -> BoxFuture<'a, Result<Option<TableVersion>>> {
        ready(self.table_version().map(Some)).boxed()
    }

    fn version(&self) -> Option<u64> {
        Some(self.number())
    }

    fn at_version(&self, version: Version) -> BoxFuture<'_, Result<Option<Arc<dyn TableProvider>>>> {
        async move {
            let delta = history::load(&self.delta().await?, &self.name, &version).await?;
            let name = format!("{} {version}", self.name);
            let access = Access::Read("versions of the past do not change");
            Ok(Some(Arc::new(Self::of_files(name, delta, HashMap::new(), access)?) as _))
        }
        .boxed()
    }

    fn history(&self) -> BoxFuture<'_, Result<Option<Arc<dyn TableProvider>>>> {
        async move { Ok(Some(Arc::new(History::new(&self.name, self.delta().await?)) as _)) }.boxed()
    }
}

impl LastingTable {
    fn plan_scan<'a>(
        &'a self,
        session: &'a dyn Session,
        projection: Option<&'a Vec<usize>>,
        filters: &'a [Expr],
        limit: Option<usize>,
    ) -> Planned<'a> {
        async move {
            let snapshot = self.with_files().await?;
            if let Some(plain) = snapshot.plain.get_or_init(|| PlainFiles::of(&snapshot.table, &self.schema())) {
                return plain.scan(session, projection, filters, limit).await;
            }
            if self.snapshot.has_files() {
                return self.scan.scan(session, projection, filters, limit).await;
            }
            scan_of(&snapshot.table, &self.name)?.scan(session, projection, filters, limit).await
        }
        .boxed()
    }

    fn plan_insert(
        &self,
        _: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if insert_op != InsertOp::Append {
            return exec_err!("{} takes INSERT INTO, not {insert_op}: DELETE its rows first", self.name);
        }
        self.writable()?;
        self.schema().logically_equivalent_names_and_types(&input.schema())?;
        let sink = AppendSink { table: self.clone(), schema: self.schema(), each: None };
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }

    /// Appends rows that are worth keeping one by one: each batch is committed as it comes, and counted in `committed`.
    ///
    /// # Errors
    /// If the rows fail or cannot be written; those that `committed` has counted stay.
    pub async fn append_each(&self, rows: SendableRecordBatchStream, committed: &Arc<CommittedRows>) -> Result<u64> {
        self.writable()?;
        let sink = AppendSink { table: self.clone(), schema: self.schema(), each: Some(Arc::clone(committed)) };
        sink.write(rows).await
    }

    fn plan_change(&self, session: &dyn Session, change: RowChange) -> Result<Arc<dyn ExecutionPlan>> {
        self.writable()?;
        let (table, state) = (self.clone(), session_state(session)?);
        let shown = format!("DeltaTable: {} {}", change.verb(), self.name);
        let run = move |context| {
            let (table, state, change) = (table.clone(), Box::new(state.clone()), change.clone());
            async move {
                let _turn = RemovalLock::wait(&table.location()?).await?;
                copy_on_write::run(&table.now().await?, &table.name, &state, &change, context).await
            }
            .boxed()
        };
        Ok(Arc::new(ChangeExec::new(shown, run)))
    }
}

/// Takes the rows of an INSERT and commits them: all at the end, or each batch as it comes.
struct AppendSink {
    table: LastingTable,
    schema: SchemaRef,
    /// The counter of the rows of each batch, once they are committed; `None` for one commit at the end.
    each: Option<Arc<CommittedRows>>,
}

impl fmt::Debug for AppendSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppendSink").field("table", &self.table).finish_non_exhaustive()
    }
}

impl DisplayAs for AppendSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeltaTable: {}", self.table.name)
    }
}

impl DataSink for AppendSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    // What `async_trait` writes, see `table_methods`.
    fn write_all<'s, 'c, 'f>(
        &'s self,
        data: SendableRecordBatchStream,
        _: &'c Arc<TaskContext>,
    ) -> BoxFuture<'f, Result<u64>>
    where
        's: 'f,
        'c: 'f,
        Self: 'f,
    {
        self.write(data)
    }
}

impl AppendSink {
    fn write(&self, mut data: SendableRecordBatchStream) -> BoxFuture<'_, Result<u64>> {
        async move {
            let table = &self.table;
            let partitions = table.snapshot.table.snapshot().map_err(|error| store::failed(&table.name, error))?;
            let partitions = partitions.metadata().partition_columns().to_vec();
            let mut files =
                Appender::new(&store::folder(&table.snapshot.table)?, &table.name, &self.schema, &partitions)?;
            // What is written but not committed, VACUUM removes.
            self.append(&mut data, &mut files).await
        }
        .boxed()
    }

    async fn append(&self, data: &mut SendableRecordBatchStream, files: &mut Appender) -> Result<u64> {
        let mut rows = 0;
        while let Some(batch) = data.next().await.transpose()? {
            files.write(&batch).await?;
            if self.each.is_some() {
                rows += self.commit(files).await?;
            }
        }
        Ok(rows + self.commit(files).await?)
    }

    async fn commit(&self, files: &mut Appender) -> Result<u64> {
        let rows = files.rows;
        let added = files.take().await?;
        if added.is_empty() {
            return Ok(0);
        }
        let (database, folder) = match &self.table.access {
            Access::Database(database, folder) => (Arc::clone(database), folder.clone()),
            Access::Read(why) => return raise!(ReadOnly, "{} cannot be changed: {why}", self.table.name),
        };
        let (name, planned) = (self.table.name.clone(), self.table.snapshot.table.clone());
        let commit = async move { database.append(&folder, &name, Some(&planned), added).await.map(|_| rows) };
        match &self.each {
            Some(each) => each.add(commit).await,
            None => commit.await,
        }
    }
}
