//! Tables in memory, whose rows count against the engine's memory limit.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{SchemaRef, UInt64Type};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{Constraints, Result, SchemaExt, exec_err, internal_err};
use datafusion::datasource::memory::PartitionData;
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::datasource::{MemTable, TableType};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use futures::{FutureExt, StreamExt};

use crate::boxed::{Planned, table_methods};
use crate::change::ChangeExec;

/// A table of batches in memory. Its rows hold memory of the engine's pool as long as the table lives; INSERT, DELETE
/// and UPDATE take place when their statement runs, and wholly or not at all.
#[derive(Debug)]
pub struct MemoryTable {
    rows: Arc<MemTable>,
    kept: Arc<Mutex<Kept>>,
}

/// The memory that a table holds.
#[derive(Debug)]
pub struct Kept {
    memory: MemoryReservation,
    // Batches are often slices of the same buffers.
    counter: RecordBatchMemoryCounter,
}

impl Kept {
    /// Nothing yet, for the table `name`.
    pub fn new(name: &str, pool: &Arc<dyn MemoryPool>) -> Self {
        let memory = MemoryConsumer::new(format!("table {name}")).register(pool);
        Self { memory, counter: RecordBatchMemoryCounter::new() }
    }

    /// Reserves what a further batch takes.
    ///
    /// # Errors
    /// If the pool has no room for it.
    pub fn grow(&mut self, batch: &RecordBatch) -> Result<()> {
        self.memory.try_grow(self.counter.count_batch(batch))
    }

    /// Takes over batches that another reservation has made room for.
    fn keep(&mut self, batches: &[Vec<RecordBatch>]) {
        self.memory.grow(batches.iter().flatten().map(|batch| self.counter.count_batch(batch)).sum());
    }
}

impl MemoryTable {
    /// A table of these rows, which `kept` has counted, with its declared constraints and defaults.
    ///
    /// # Errors
    /// If a batch has another schema.
    pub fn try_new(
        schema: SchemaRef,
        mut partitions: Vec<Vec<RecordBatch>>,
        constraints: Constraints,
        defaults: Vec<(String, Expr)>,
        kept: Arc<Mutex<Kept>>,
    ) -> Result<Self> {
        if partitions.is_empty() {
            // Rows are inserted into a partition.
            partitions.push(Vec::new());
        }
        let rows = MemTable::try_new(schema, partitions)?.with_constraints(constraints);
        let rows = rows.with_column_defaults(defaults.into_iter().collect());
        Ok(Self { rows: Arc::new(rows), kept })
    }

    /// A table of one batch.
    ///
    /// # Errors
    /// If the pool has no room for it.
    pub fn of(name: &str, batch: RecordBatch, pool: &Arc<dyn MemoryPool>) -> Result<Self> {
        let mut kept = Kept::new(name, pool);
        kept.grow(&batch)?;
        Self::try_new(batch.schema(), vec![vec![batch]], Constraints::default(), Vec::new(), Arc::new(Mutex::new(kept)))
    }
}

/// The rows of a stream, small batches joined to `size` rows: every later scan pays for each batch.
pub fn joined(rows: SendableRecordBatchStream, size: usize) -> SendableRecordBatchStream {
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

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
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
        delete_from by plan_delete;
        update by plan_update;
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
        let sink = Sink { schema: self.schema(), rows: self.rows.batches.clone(), kept: Arc::clone(&self.kept) };
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }

    fn plan_delete(&self, state: &dyn Session, filters: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        self.change(state, Change::Delete { filters })
    }

    fn plan_update(
        &self,
        state: &dyn Session,
        assignments: Vec<(String, Expr)>,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.change(state, Change::Update { assignments, filters })
    }

    fn change(&self, state: &dyn Session, change: Change) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
            return internal_err!("a table in memory is changed by a session of another kind");
        };
        let (rows, kept, state) = (Arc::clone(&self.rows), Arc::clone(&self.kept), Box::new(state.clone()));
        let shown = match change {
            Change::Delete { .. } => "MemoryTable: DELETE",
            Change::Update { .. } => "MemoryTable: UPDATE",
        };
        // DataFusion's own plan changes the rows while it is made.
        let run = move |context| {
            let (rows, kept) = (Arc::clone(&rows), Arc::clone(&kept));
            let (state, change) = (state.clone(), change.clone());
            async move {
                let done = match change {
                    Change::Delete { filters } => rows.delete_from(state.as_ref(), filters).await?,
                    Change::Update { assignments, filters } => {
                        rows.update(state.as_ref(), assignments, filters).await?
                    }
                };
                let counts = datafusion::physical_plan::collect(done, context).await?;
                recount(&rows, &kept).await;
                Ok(counts.iter().map(counted).sum())
            }
            .boxed()
        };
        Ok(Arc::new(ChangeExec::new(shown.to_owned(), run)))
    }
}

/// Takes the rows of an INSERT: all of them, or none.
#[derive(Debug)]
struct Sink {
    schema: SchemaRef,
    rows: Vec<PartitionData>,
    kept: Arc<Mutex<Kept>>,
}

impl DisplayAs for Sink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryTable")
    }
}

#[async_trait]
impl DataSink for Sink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        let mut data = joined(data, context.session_config().batch_size());
        let mut new = Vec::new();
        let mut counter = RecordBatchMemoryCounter::new();
        let memory = lock(&self.kept).memory.new_empty();
        while let Some(batch) = data.next().await.transpose()? {
            memory.try_grow(counter.count_batch(&batch))?;
            new.push(batch);
        }
        let count = new.iter().map(RecordBatch::num_rows).sum::<usize>();
        // The batches go round, so that later scans are shared out evenly.
        let mut parts = vec![Vec::new(); self.rows.len()];
        for (i, batch) in new.into_iter().enumerate() {
            parts[i % self.rows.len()].push(batch);
        }
        // What was reserved for the statement becomes the table's, without the buffers that it had already.
        lock(&self.kept).keep(&parts);
        memory.free();
        for (rows, part) in self.rows.iter().zip(parts) {
            rows.write().await.extend(part);
        }
        Ok(count as u64)
    }
}

/// What a DELETE or an UPDATE does.
#[derive(Debug, Clone)]
enum Change {
    Delete { filters: Vec<Expr> },
    Update { assignments: Vec<(String, Expr)>, filters: Vec<Expr> },
}

fn counted(batch: &RecordBatch) -> u64 {
    let counts = batch.column(0).as_primitive_opt::<UInt64Type>();
    counts.map_or(0, |counts| counts.iter().flatten().sum())
}

/// Reserves what the changed rows take.
async fn recount(rows: &MemTable, kept: &Mutex<Kept>) {
    let mut counter = RecordBatchMemoryCounter::new();
    for partition in &rows.batches {
        for batch in partition.read().await.iter() {
            counter.count_batch(batch);
        }
    }
    let mut kept = lock(kept);
    // The rows are there already: the pool may go over its limit until a later statement fails.
    kept.memory.resize(counter.memory_usage());
    kept.counter = counter;
}
