//! The start of a call's runs: each on a blocking thread, cancelled when its rows are dropped.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::graphs::GraphResolver;
use crate::graphs::table_version::WholeTable;
use crate::host::compute_time::computing;
use crate::host::running_statement::RunningStatement;
use crate::host::{Host, KernelContext};
use crate::registry::operator::Binding;
use crate::runs::run::{Input, Output, Run};
use bonnet_common::{ErrorKind, Raised, panic_text};

/// The state shared by all runs of a call.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) name: &'static str,
    pub(crate) inputs: Vec<Arc<dyn ExecutionPlan>>,
    pub(crate) binding: Binding,
    pub(crate) sources: Vec<Option<WholeTable>>,
    pub(crate) computed: Option<Vec<usize>>,
    pub(crate) kernels: KernelContext,
    pub(crate) graphs: Arc<dyn GraphResolver>,
    pub(crate) context: Arc<TaskContext>,
    pub(crate) runtime: Handle,
    /// Set when the query is cancelled.
    pub(crate) cancelled: Arc<AtomicBool>,
    /// The time that the runs compute, together.
    pub(crate) computed_for: Time,
}

impl Launch {
    /// The same for one partition, which ends by itself, with these columns of the answer computed.
    pub(crate) fn partition(&self, computed: Option<Vec<usize>>) -> Self {
        Self { computed, cancelled: Arc::default(), ..self.clone() }
    }

    /// The same with the partitions of each input merged into one, in any order.
    pub(crate) fn merged(&self) -> Self {
        let one = |input: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
            match input.output_partitioning().partition_count() {
                1 => Arc::clone(input),
                _ => Arc::new(CoalescePartitionsExec::new(Arc::clone(input))),
            }
        };
        Self { inputs: self.inputs.iter().map(one).collect(), ..self.clone() }
    }

    /// The usual number of rows of a batch.
    pub(crate) fn batch_size(&self) -> usize {
        self.context.session_config().batch_size().max(1)
    }

    /// Memory, progress and cancellation of a run.
    pub(crate) fn host(&self) -> Host {
        Host::new(self.name, &self.context, &self.kernels, Arc::clone(&self.cancelled))
    }

    /// A run of the function on these inputs.
    pub(crate) fn run(&self, inputs: Vec<Input>, output: Output) -> Run {
        Run {
            inputs,
            sources: Vec::new(),
            output,
            schema: Arc::clone(&self.binding.schema),
            columns: self.computed.clone(),
            sorted_arcs: false,
            host: Arc::new(self.host()),
            kernels: self.kernels.clone(),
            graphs: Arc::clone(&self.graphs),
            context: Arc::clone(&self.context),
            runtime: self.runtime.clone(),
        }
    }

    /// One run on the whole inputs.
    pub(crate) fn whole(&self, schema: SchemaRef) -> Result<SendableRecordBatchStream> {
        let launch = self.clone();
        Ok(self.spawn(schema, move |output| {
            let inputs = launch.inputs.iter().map(|input| Input::Plan(Arc::clone(input))).collect();
            let mut run = launch.run(inputs, Output::Channel(output));
            run.sources = launch.sources;
            launch.binding.run(&mut run)
        }))
    }

    /// Works on a blocking thread of its own, which sends rows of `schema` here. The work ends when they are dropped.
    pub(crate) fn spawn(
        &self,
        schema: SchemaRef,
        work: impl FnOnce(mpsc::Sender<Result<RecordBatch>>) -> Result<()> + Send + 'static,
    ) -> SendableRecordBatchStream {
        let (output, mut rows) = mpsc::channel(4);
        let cancelled = CancelOnDrop(Arc::clone(&self.cancelled));
        let (name, statement) = (self.name, RunningStatement::current());
        let time = self.computed_for.clone();
        tokio::task::spawn_blocking(move || {
            let errors = output.clone();
            let work = || RunningStatement::enter(statement, || computing(time, || work(output)));
            // A panic is a defect of ours; the session must outlive it.
            let error = match std::panic::catch_unwind(AssertUnwindSafe(work)) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(panic) => {
                    let panic = panic_text(panic.as_ref());
                    let text = format!("{name} failed by a defect of the engine, please report it: {panic}");
                    Raised::new(ErrorKind::Internal, text).into()
                }
            };
            // Where the query was dropped, the error has no reader.
            let _ = errors.blocking_send(Err(error));
        });
        let stream = futures::stream::poll_fn(move |cx| {
            let _ = &cancelled;
            rows.poll_recv(cx)
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, stream))
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}
