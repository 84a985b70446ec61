//! The run of an operator: its inputs, its output and its host.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{BatchCoalescer, concat_batches};
use arrow::datatypes::SchemaRef;
use bonnet_graph::{Monitor, Stopped};
use datafusion::catalog::TableProvider;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::error::{execution_error, stopped};
use crate::graphs::GraphResolver;
use crate::graphs::table_version::WholeTable;
use crate::host::compute_time::waiting;
use crate::host::{Host, KernelContext};

/// The inputs, the output and the host of a running [`Operator`](crate::Operator).
pub struct Run {
    pub(crate) inputs: Vec<Input>,
    /// The tables that the inputs are, where they are tables as they stand.
    pub(crate) sources: Vec<Option<WholeTable>>,
    pub(crate) output: Output,
    /// The schema that `emit` is given, and the columns of it that are wanted.
    pub(crate) schema: SchemaRef,
    pub(crate) columns: Option<Vec<usize>>,
    /// Whether the rows of a graph come in no order of their own, so that its arcs are sorted.
    pub(crate) sorted_arcs: bool,
    pub(crate) host: Arc<Host>,
    pub(crate) kernels: KernelContext,
    pub(crate) graphs: Arc<dyn GraphResolver>,
    pub(crate) context: Arc<TaskContext>,
    pub(crate) runtime: Handle,
}

/// An input of a run.
pub(crate) enum Input {
    /// Not read yet: a graph that is cached needs none of its rows.
    Plan(Arc<dyn ExecutionPlan>),
    /// Being read.
    Rows(SendableRecordBatchStream),
    /// Read to its end.
    End,
}

/// Where a run's rows go.
pub(crate) enum Output {
    /// To the query, which takes them as they come.
    Channel(mpsc::Sender<Result<RecordBatch>>),
    /// To the caller of the run, when it is over.
    Batches(Mutex<Vec<RecordBatch>>),
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

    /// The resources that the session lends to kernels.
    pub fn kernels(&self) -> &KernelContext {
        &self.kernels
    }

    /// Runs a kernel in the engine's pool.
    pub fn install<T: Send>(&self, kernel: impl FnOnce() -> T + Send) -> T {
        self.kernels.pool.install(kernel)
    }

    /// Waits for something asynchronous, such as reading a table. Stops waiting when the query is cancelled.
    pub fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        wait(&self.runtime, &self.host, future)
    }

    /// All rows of an input, in one batch at least; reserves their memory until the run ends.
    pub fn collect(&mut self, input: usize) -> Result<Vec<RecordBatch>> {
        match self.take(input)? {
            Some(stream) => self.drain(stream),
            None => Ok(Vec::new()),
        }
    }

    /// The rows of an input, whose reading begins here if it has not; `None` where they were read.
    pub(crate) fn take(&mut self, input: usize) -> Result<Option<SendableRecordBatchStream>> {
        Ok(match std::mem::replace(&mut self.inputs[input], Input::End) {
            Input::Plan(plan) => {
                let _entered = self.runtime.enter();
                Some(plan.execute(0, Arc::clone(&self.context))?)
            }
            Input::Rows(stream) => Some(stream),
            Input::End => None,
        })
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

    /// A coalescer that joins batches of fewer than half the usual rows: a batch costs as much as a thousand rows.
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
        let Some(mut stream) = self.take(input)? else { return Ok(None) };
        let batch = self.wait(async { stream.next().await.transpose() })?;
        if batch.is_some() {
            self.inputs[input] = Input::Rows(stream);
        }
        Ok(batch)
    }

    /// Whether the query reads this column of the answer. A column that is not read may be all NULL.
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

    /// Gives rows of the whole answer schema to the query. Fails when the query is cancelled.
    pub fn emit(&self, batch: RecordBatch) -> Result<()> {
        let batch = match &self.columns {
            Some(columns) => batch.project(columns)?,
            None => batch,
        };
        match &self.output {
            Output::Channel(output) => {
                waiting(|| output.blocking_send(Ok(batch))).map_err(|_| stopped(Stopped::Cancelled))
            }
            Output::Batches(batches) => {
                batches.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
                Ok(())
            }
        }
    }
}

/// Waits for something asynchronous on a thread that may block, and no longer than the query.
///
/// Not with the runtime's `block_on` and its clock: they panic where the engine is dropped while a kernel still waits.
pub(crate) fn wait<T>(runtime: &Handle, host: &Host, future: impl Future<Output = Result<T>>) -> Result<T> {
    waiting(|| wait_for(runtime, host, future))
}

fn wait_for<T>(runtime: &Handle, host: &Host, future: impl Future<Output = Result<T>>) -> Result<T> {
    let _entered = runtime.enter();
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
        host.check().map_err(stopped)?;
        std::thread::park_timeout(LOOK);
    }
}

/// The interval at which a waiting thread checks whether the query is cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_run_may_wait_for_a_query_whose_engine_is_dropped() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let kernels = KernelContext { pool: Arc::new(pool), progress: Arc::default(), device: "cpu".to_owned() };
        let cancelled = Arc::new(AtomicBool::new(false));
        let host = Host::new("f", &TaskContext::default(), &kernels, Arc::clone(&cancelled));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let handle = runtime.handle().clone();
        let waiting = std::thread::spawn(move || {
            let answer =
                wait(&handle, &host, async { receiver.await.map_err(|error| execution_error(error.to_string())) });
            (answer, wait(&handle, &host, std::future::pending::<Result<()>>()))
        });
        runtime.shutdown_background();
        // Longer than between two looks: the thread looks at least once at a runtime that is gone.
        std::thread::sleep(3 * LOOK);
        sender.send(7).unwrap();
        std::thread::sleep(3 * LOOK);
        cancelled.store(true, Ordering::Relaxed);
        let (answer, pending) = waiting.join().unwrap();
        assert_eq!(answer.unwrap(), 7);
        assert!(pending.is_err());
    }
}
