//! A running operator's view of the world: its inputs, its output and its host.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{BatchCoalescer, concat_batches};
use arrow::datatypes::SchemaRef;
use bonnet_graph::{Monitor, Stopped};
use datafusion::catalog::TableProvider;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use futures::StreamExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::{GraphResolver, Host, KernelContext, execution_error, stopped};

/// The inputs, the output and the host of a running [`Operator`](crate::Operator).
pub struct Run {
    pub(crate) inputs: Vec<Option<SendableRecordBatchStream>>,
    pub(crate) output: mpsc::Sender<Result<RecordBatch>>,
    /// The schema that `emit` is given, and the columns of it that are wanted.
    pub(crate) schema: SchemaRef,
    pub(crate) columns: Option<Vec<usize>>,
    pub(crate) host: Arc<Host>,
    pub(crate) kernels: KernelContext,
    pub(crate) graphs: Arc<dyn GraphResolver>,
    pub(crate) context: Arc<TaskContext>,
    pub(crate) runtime: Handle,
}

impl Run {
    /// Memory, progress and cancellation of this run.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The graphs that names in options and rows stand for.
    pub fn graphs(&self) -> &Arc<dyn GraphResolver> {
        &self.graphs
    }

    /// The task's context, for reading other relations.
    pub fn context(&self) -> &Arc<TaskContext> {
        &self.context
    }

    /// What the session lends to kernels.
    pub fn kernels(&self) -> &KernelContext {
        &self.kernels
    }

    /// Runs a kernel in the engine's pool.
    pub fn install<T: Send>(&self, kernel: impl FnOnce() -> T + Send) -> T {
        self.kernels.pool.install(kernel)
    }

    /// Waits for something asynchronous, such as reading a table. Stops waiting when the query is cancelled.
    pub fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(async {
            tokio::pin!(future);
            loop {
                tokio::select! {
                    result = &mut future => return result,
                    () = tokio::time::sleep(std::time::Duration::from_millis(50)) => self.host.check().map_err(stopped)?,
                }
            }
        })
    }

    /// All rows of an input, in one batch at least; reserves their memory until the run ends.
    pub fn collect(&mut self, input: usize) -> Result<Vec<RecordBatch>> {
        match self.inputs[input].take() {
            Some(stream) => self.drain(stream),
            None => Ok(Vec::new()),
        }
    }

    /// All rows of a stream in one batch at least, small batches joined; reserves their memory until the run ends.
    pub fn drain(&self, mut stream: SendableRecordBatchStream) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        let schema = stream.schema();
        let mut small = self.coalescer(Arc::clone(&schema));
        // Batches are often slices of the same buffers.
        let mut counter = RecordBatchMemoryCounter::new();
        let mut keep = |small: &mut BatchCoalescer| {
            while let Some(batch) = small.next_completed_batch() {
                self.host.reserve(counter.count_batch(&batch)).map_err(stopped)?;
                batches.push(batch);
            }
            Ok::<_, DataFusionError>(())
        };
        while let Some(batch) = self.wait(async { stream.next().await.transpose() })? {
            small.push_batch(batch)?;
            keep(&mut small)?;
        }
        small.finish_buffered_batch()?;
        keep(&mut small)?;
        if batches.is_empty() {
            // Without rows there are columns, of the types that the answer has.
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(batches)
    }

    /// What joins batches of fewer than half the usual rows: a batch costs as much as a thousand rows.
    pub(crate) fn coalescer(&self, schema: SchemaRef) -> BatchCoalescer {
        let size = self.batch_size();
        BatchCoalescer::new(schema, size).with_biggest_coalesce_batch_size(Some(size / 2))
    }

    /// Columns of a graph's table, each in one piece; reserves their memory until the run ends. `name` is the table's.
    pub fn read_table(&self, table: &Arc<dyn TableProvider>, name: &str, columns: &[&str]) -> Result<Vec<ArrayRef>> {
        let schema = table.schema();
        if let Some(missing) = columns.iter().find(|column| schema.field_with_name(column).is_err()) {
            return Err(execution_error(format!("its table {name} has no column {missing}")));
        }
        let stream = self.wait(self.graphs.read(table, columns, &self.context))?;
        let schema = stream.schema();
        let batches = self.drain(stream)?;
        Ok(concat_batches(&schema, &batches)?.columns().to_vec())
    }

    /// The next rows of an input, for operators that stream.
    pub fn next(&mut self, input: usize) -> Result<Option<RecordBatch>> {
        let Some(mut stream) = self.inputs[input].take() else { return Ok(None) };
        let batch = self.wait(async { stream.next().await.transpose() })?;
        self.inputs[input] = Some(stream);
        Ok(batch)
    }

    /// Whether the query reads this column of the answer. A column that nobody reads may be all NULL.
    pub fn wants(&self, column: &str) -> bool {
        match (&self.columns, self.schema.index_of(column)) {
            (_, Err(_)) => false,
            (None, _) => true,
            (Some(columns), Ok(index)) => columns.contains(&index),
        }
    }

    /// The usual number of rows of a batch.
    pub(crate) fn batch_size(&self) -> usize {
        self.context.session_config().batch_size().max(1)
    }

    /// Gives all rows of the whole answer schema to the query, in batches of the usual size.
    pub fn emit_all(&self, columns: Vec<ArrayRef>) -> Result<()> {
        let size = self.batch_size();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        for start in (0..batch.num_rows()).step_by(size) {
            self.emit(batch.slice(start, size.min(batch.num_rows() - start)))?;
        }
        Ok(())
    }

    /// The columns of the whole answer.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Gives rows of the whole answer schema to the query. Fails when nobody waits for them.
    pub fn emit(&self, batch: RecordBatch) -> Result<()> {
        let batch = match &self.columns {
            Some(columns) => batch.project(columns)?,
            None => batch,
        };
        self.output.blocking_send(Ok(batch)).map_err(|_| stopped(Stopped::Cancelled))
    }
}
