//! Tables in memory, whose rows count against the engine's memory limit.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{SchemaRef, UInt64Type};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{
    Constraint, Constraints, DataFusionError, Result, SchemaExt, exec_datafusion_err, exec_err, internal_datafusion_err,
};
use datafusion::datasource::memory::PartitionData;
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::datasource::{MemTable, TableType, provider_as_source};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, collect};
use datafusion::prelude::DataFrame;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, StreamExt};

use super::row_version::RowVersion;
use super::unique_keys::UniqueKeys;
use crate::ground::change_exec::{ChangeExec, RowChange, session_state};
use crate::ground::column_change::ColumnChange;
use crate::ground::new_table::NewTable;
use crate::ground::table_methods::{Planned, table_methods};
use crate::ground::table_version::{TableVersion, VersionedTable};

/// A table of batches in memory. Its rows hold memory of the engine's pool as long as the table lives; INSERT, DELETE
/// and UPDATE take place when their statement runs, and wholly or not at all. PRIMARY KEY and UNIQUE are enforced.
#[derive(Debug)]
pub struct MemoryTable {
    rows: Arc<MemTable>,
    memory: Arc<Mutex<TableMemory>>,
    keys: Arc<UniqueKeys>,
    version: Arc<RowVersion>,
}

/// The memory that a table holds.
#[derive(Debug)]
pub(crate) struct TableMemory {
    reserved: MemoryReservation,
    // Batches are often slices of the same buffers.
    counter: RecordBatchMemoryCounter,
}

impl TableMemory {
    /// Nothing yet, for the table `name`.
    pub fn new(name: &str, pool: &Arc<dyn MemoryPool>) -> Self {
        let reserved = MemoryConsumer::new(format!("table {name}")).register(pool);
        Self { reserved, counter: RecordBatchMemoryCounter::new() }
    }

    /// Reserves what a further batch takes.
    ///
    /// # Errors
    /// If the pool has no memory for it.
    pub fn grow(&mut self, batch: &RecordBatch) -> Result<()> {
        self.reserved.try_grow(self.counter.count_batch(batch))
    }

    /// Takes over batches whose memory another reservation has reserved.
    fn take_over(&mut self, batches: &[Vec<RecordBatch>]) {
        self.reserved.grow(batches.iter().flatten().map(|batch| self.counter.count_batch(batch)).sum());
    }
}

impl MemoryTable {
    /// A table of these rows, which `memory` has counted, with its declared constraints and defaults.
    ///
    /// # Errors
    /// If a batch has another schema, or rows repeat a key.
    pub(crate) fn try_new(
        name: &str,
        schema: SchemaRef,
        mut partitions: Vec<Vec<RecordBatch>>,
        constraints: Constraints,
        defaults: Vec<(String, Expr)>,
        memory: TableMemory,
    ) -> Result<Self> {
        let keys = UniqueKeys::new(name, &constraints, &schema)?;
        keys.check(partitions.iter().flatten(), &memory.reserved)?;
        if partitions.is_empty() {
            // Rows are inserted into a partition.
            partitions.push(Vec::new());
        }
        // UNIQUE allows many NULLs, which the optimizer would take for one.
        let believed = constraints.iter().filter(|one| matches!(one, Constraint::PrimaryKey(_))).cloned().collect();
        let rows = MemTable::try_new(schema, partitions)?.with_constraints(Constraints::new_unverified(believed));
        let rows = rows.with_column_defaults(defaults.into_iter().collect());
        Ok(Self {
            rows: Arc::new(rows),
            memory: Arc::new(Mutex::new(memory)),
            keys: Arc::new(keys),
            version: RowVersion::first(),
        })
    }

    /// The table of CREATE TABLE: its rows are read partition by partition, and counted as they come.
    ///
    /// # Errors
    /// If the rows fail, the pool has no memory for them, or they repeat a key.
    pub(crate) async fn load(name: &str, new: NewTable) -> Result<Self> {
        let NewTable { columns, rows, defaults, constraints } = new;
        let context = rows.task_ctx();
        let size = context.session_config().batch_size();
        let memory = Arc::new(Mutex::new(TableMemory::new(name, context.memory_pool())));
        let tasks = rows.execute_stream_partitioned().await?.into_iter().map(|rows| {
            let (mut rows, columns, memory) = (joined(rows, size), Arc::clone(&columns), Arc::clone(&memory));
            SpawnedTask::spawn(async move {
                let mut batches = Vec::new();
                while let Some(batch) = rows.next().await.transpose()? {
                    lock(&memory).grow(&batch)?;
                    batches.push(batch.with_schema(Arc::clone(&columns))?);
                }
                Ok::<_, DataFusionError>(batches)
            })
        });
        let mut partitions = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            partitions.push(task.join().await.map_err(|error| exec_datafusion_err!("the query failed: {error}"))??);
        }
        let memory = Arc::into_inner(memory).ok_or_else(|| internal_datafusion_err!("{name} is still being read"))?;
        let memory = memory.into_inner().unwrap_or_else(PoisonError::into_inner);
        Self::try_new(name, columns, partitions, constraints, defaults, memory)
    }
}

impl MemoryTable {
    /// The table with other columns. Its rows are computed anew, beside those that it has.
    ///
    /// # Errors
    /// If the columns cannot be changed so, the pool has no memory for the rows, or another statement changes them meanwhile.
    pub(crate) async fn with_columns(&self, name: &str, change: &ColumnChange, state: &SessionState) -> Result<Self> {
        let before = self.version.get();
        let changed = change.of(name, &self.schema())?;
        let constraints = self.keys.moved(&changed.places)?;
        let mut defaults = changed.defaults(&self.schema(), |column| self.rows.get_column_default(column).cloned());
        let rows = LogicalPlanBuilder::scan(name, provider_as_source(Arc::clone(&self.rows) as _), None)?;
        let rows = DataFrame::new(state.clone(), rows.project(changed.values)?.build()?);
        if let ColumnChange::Add { field, default: Some(default) } = change {
            defaults.push((field.name().clone(), default.clone()));
        }
        let new = NewTable { columns: changed.schema, rows, defaults, constraints };
        let table = Self::load(name, new).await?;
        if before.is_none() || before != self.version.get() {
            return exec_err!(
                "another statement changed {name} while this one ran; nothing of this one was kept: run it again"
            );
        }
        Ok(table)
    }
}

/// The rows of a table in memory, to be put back.
#[derive(Debug)]
pub(crate) enum KeptBatches {
    /// All that it had, and the memory that they hold.
    All { rows: Vec<Vec<RecordBatch>>, _reserved: MemoryReservation },
    /// The first so many batches of each partition.
    First(Vec<usize>),
}

impl MemoryTable {
    /// The rows as they are, with their version; `None` while they change. `adds` says that the change to come only adds rows.
    ///
    /// # Errors
    /// If the pool has no memory to hold what the change may take away.
    pub(crate) async fn kept(&self, adds: bool) -> Result<Option<(TableVersion, KeptBatches)>> {
        let Some(version) = self.version.get() else { return Ok(None) };
        let kept = if adds {
            let mut counts = Vec::new();
            for partition in &self.rows.batches {
                counts.push(partition.read().await.len());
            }
            KeptBatches::First(counts)
        } else {
            let (reserved, mut all) = (lock(&self.memory).reserved.new_empty(), Vec::new());
            let mut counter = RecordBatchMemoryCounter::new();
            for partition in &self.rows.batches {
                let batches = partition.read().await.clone();
                reserved.try_grow(batches.iter().map(|batch| counter.count_batch(batch)).sum())?;
                all.push(batches);
            }
            KeptBatches::All { rows: all, _reserved: reserved }
        };
        let unchanged = self.version.get().as_ref() == Some(&version);
        Ok(unchanged.then_some((version, kept)))
    }

    /// Gives the table these rows again, if it has those of version `after`; the version that has them.
    pub(crate) async fn put_back(&self, kept: &KeptBatches, after: &TableVersion) -> Option<TableVersion> {
        let mut partitions = Vec::new();
        for partition in &self.rows.batches {
            partitions.push(partition.write().await);
        }
        // Whoever adds rows now waits for the partitions.
        let changing = self.version.change_from(after)?;
        for (place, partition) in partitions.iter_mut().enumerate() {
            match kept {
                KeptBatches::All { rows, .. } => **partition = rows.get(place).cloned().unwrap_or_default(),
                KeptBatches::First(counts) => partition.truncate(counts.get(place).copied().unwrap_or_default()),
            }
        }
        let version = changing.version();
        drop((partitions, changing));
        recount(&self.rows, &self.memory).await;
        Some(version)
    }
}

/// The rows of a stream, small batches joined to `size` rows: every later scan pays for each batch.
pub(crate) fn joined(rows: SendableRecordBatchStream, size: usize) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let small = BatchCoalescer::new(Arc::clone(&schema), size).with_biggest_coalesce_batch_size(Some(size / 2));
    let joined = futures::stream::try_unfold((rows, small, false), |(mut rows, mut small, mut done)| async move {
        while !done && !small.has_completed_batch() {
            match rows.next().await.transpose()? {
                Some(batch) => small.push_batch(batch)?,
                None => {
                    small.finish_buffered_batch()?;
                    done = true;
                }
            }
        }
        Ok(small.next_completed_batch().map(|batch| (batch, (rows, small, done))))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, joined))
}

fn lock(memory: &Mutex<TableMemory>) -> MutexGuard<'_, TableMemory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TableProvider for MemoryTable {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.rows.constraints()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.rows.get_column_default(column)
    }

    table_methods! {
        scan by plan_scan;
        insert_into by plan_insert;
        changes by plan_change;
    }
}

impl MemoryTable {
    fn plan_scan<'a>(
        &'a self,
        session: &'a dyn Session,
        projection: Option<&'a Vec<usize>>,
        filters: &'a [Expr],
        limit: Option<usize>,
    ) -> Planned<'a> {
        self.rows.scan(session, projection, filters, limit)
    }

    fn plan_insert(
        &self,
        _: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if insert_op != InsertOp::Append {
            return exec_err!("a table in memory takes INSERT INTO, not {insert_op}: DELETE its rows first");
        }
        self.schema().logically_equivalent_names_and_types(&input.schema())?;
        let (memory, keys) = (Arc::clone(&self.memory), Arc::clone(&self.keys));
        let version = Arc::clone(&self.version);
        let sink = MemorySink { schema: self.schema(), rows: self.rows.batches.clone(), memory, keys, version };
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }

    fn plan_change(&self, state: &dyn Session, change: RowChange) -> Result<Arc<dyn ExecutionPlan>> {
        let (rows, memory, keys) = (Arc::clone(&self.rows), Arc::clone(&self.memory), Arc::clone(&self.keys));
        let version = Arc::clone(&self.version);
        let state = Box::new(session_state(state)?);
        let shown = format!("MemoryTable: {}", change.verb());
        // DataFusion's own plan changes the rows while it is made.
        let run = move |context| {
            let (rows, memory, keys) = (Arc::clone(&rows), Arc::clone(&memory), Arc::clone(&keys));
            let (state, change, version) = (state.clone(), change.clone(), Arc::clone(&version));
            async move {
                let _changing = version.change();
                let RowChange { filters, assignments } = change;
                let counts = match assignments {
                    None => collect(rows.delete_from(state.as_ref(), filters).await?, context).await?,
                    Some(assignments) if keys.is_empty() => {
                        collect(rows.update(state.as_ref(), assignments, filters).await?, context).await?
                    }
                    Some(assignments) => {
                        // On a copy of the batches' handles, which takes their place once its keys are known to hold.
                        let _writing = keys.writing.lock().await;
                        let mut copied = Vec::new();
                        for partition in &rows.batches {
                            copied.push(partition.read().await.clone());
                        }
                        let copy = MemTable::try_new(rows.schema(), copied)?;
                        let counts = collect(copy.update(state.as_ref(), assignments, filters).await?, context).await?;
                        let mut updated = Vec::new();
                        for partition in &copy.batches {
                            updated.push(partition.read().await.clone());
                        }
                        keys.check(updated.iter().flatten(), &lock(&memory).reserved.new_empty())?;
                        for (partition, updated) in rows.batches.iter().zip(updated) {
                            *partition.write().await = updated;
                        }
                        counts
                    }
                };
                recount(&rows, &memory).await;
                Ok(counted(&counts))
            }
            .boxed()
        };
        Ok(Arc::new(ChangeExec::new(shown, run)))
    }
}

impl VersionedTable for MemoryTable {
    fn row_version<'a>(&'a self, _: &'a SessionState) -> BoxFuture<'a, Result<Option<TableVersion>>> {
        ready(Ok(self.version.get())).boxed()
    }
}

/// Takes the rows of an INSERT: all of them, or none.
#[derive(Debug)]
struct MemorySink {
    schema: SchemaRef,
    rows: Vec<PartitionData>,
    memory: Arc<Mutex<TableMemory>>,
    keys: Arc<UniqueKeys>,
    version: Arc<RowVersion>,
}

impl DisplayAs for MemorySink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryTable")
    }
}

#[async_trait]
impl DataSink for MemorySink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        let mut data = joined(data, context.session_config().batch_size());
        let mut new = Vec::new();
        let mut counter = RecordBatchMemoryCounter::new();
        let reserved = lock(&self.memory).reserved.new_empty();
        while let Some(batch) = data.next().await.transpose()? {
            reserved.try_grow(counter.count_batch(&batch))?;
            new.push(batch);
        }
        // Nobody adds rows between the check of their keys and their insertion.
        let _writing = match self.keys.is_empty() {
            true => None,
            false => {
                let writing = self.keys.writing.lock().await;
                let mut all = new.clone();
                for partition in &self.rows {
                    all.extend(partition.read().await.iter().cloned());
                }
                self.keys.check(&all, &reserved.new_empty())?;
                Some(writing)
            }
        };
        let count = new.iter().map(RecordBatch::num_rows).sum::<usize>();
        // Round-robin, so that later scans are balanced.
        let mut parts = vec![Vec::new(); self.rows.len()];
        for (i, batch) in new.into_iter().enumerate() {
            parts[i % self.rows.len()].push(batch);
        }
        // What was reserved for the statement becomes the table's, without the buffers that it had already.
        lock(&self.memory).take_over(&parts);
        reserved.free();
        let _changing = self.version.change();
        for (rows, part) in self.rows.iter().zip(parts) {
            rows.write().await.extend(part);
        }
        Ok(count as u64)
    }
}

/// The rows that an INSERT, a DELETE, an UPDATE or a COPY answers to have written.
pub fn counted(batches: &[RecordBatch]) -> u64 {
    let counts = batches.iter().filter_map(|batch| batch.column(0).as_primitive_opt::<UInt64Type>());
    counts.flat_map(|counts| counts.iter().flatten()).sum()
}

/// Reserves what the changed rows take.
async fn recount(rows: &MemTable, memory: &Mutex<TableMemory>) {
    let mut counter = RecordBatchMemoryCounter::new();
    for partition in &rows.batches {
        for batch in partition.read().await.iter() {
            counter.count_batch(batch);
        }
    }
    let mut memory = lock(memory);
    // The rows are there already: the pool may go over its limit until a later statement fails.
    memory.reserved.resize(counter.memory_usage());
    memory.counter = counter;
}
