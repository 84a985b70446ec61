//! A running query: its rows cross from the engine's runtime to whoever waits for them.

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use bonnet_sql::{RunningStatement, panic_text};
use datafusion::common::DataFusionError;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::{Explain, LogicalPlan};
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::{Engine, ErrorKind, Raised, Result};

/// Batches that may wait for their reader.
const WAITING: usize = 2;

/// When a statement has to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    limit: Duration,
    end: Instant,
}

impl Deadline {
    /// A deadline this far from now; `None` for no limit.
    pub(crate) fn after(limit: Option<Duration>) -> Option<Self> {
        limit.map(|limit| Self { limit, end: Instant::now() + limit })
    }

    /// The moment itself.
    pub(crate) fn end(self) -> std::time::Instant {
        self.end.into_std()
    }

    /// The error after the deadline.
    pub(crate) fn error(self) -> DataFusionError {
        let text = format!(
            "the statement ran past bonnet.statement_timeout ({:?}); raise it with SET bonnet.statement_timeout = '...'",
            self.limit
        );
        Raised::new(ErrorKind::Timeout, text).into()
    }

    /// Why work failed: what stopped at the deadline says only that it was stopped.
    pub(crate) fn reason<E: From<DataFusionError>>(deadline: Option<Self>, error: E) -> E {
        match deadline {
            Some(deadline) if Instant::now() >= deadline.end => deadline.error().into(),
            _ => error,
        }
    }

    /// Waits until well after the deadline, when the statement should have noticed it; for ever without one.
    pub(crate) async fn overdue(deadline: Option<Self>) -> DataFusionError {
        let grace = Duration::from_millis(200);
        Self::passed(deadline.map(|deadline| Self { end: deadline.end + grace, ..deadline })).await
    }

    /// Waits until the deadline; for ever without one.
    pub(crate) async fn passed(deadline: Option<Self>) -> DataFusionError {
        match deadline {
            Some(deadline) => {
                tokio::time::sleep_until(deadline.end).await;
                deadline.error()
            }
            None => std::future::pending().await,
        }
    }
}

/// Tells a statement's kernels to stop once nobody waits for it.
pub(crate) struct CancelOnDrop(pub(crate) Arc<RunningStatement>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl CancelOnDrop {
    /// The rows of the statement, which is cancelled when they are dropped.
    pub(crate) fn until_end_of(self, mut rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let schema = rows.schema();
        let stream = futures::stream::poll_fn(move |cx| {
            let _statement = &self;
            rows.poll_next_unpin(cx)
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, stream))
    }
}

/// Pumps rows in a task of the engine's runtime, on one of whose threads it is called as part of the statement. Dropping
/// the stream that is returned ends the query.
pub(crate) fn pump(
    engine: &Engine,
    mut rows: SendableRecordBatchStream,
    deadline: Option<Deadline>,
) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let (sender, mut receiver) = mpsc::channel(WAITING);
    // The task holds the engine: its threads must outlive the query.
    let shared = Arc::clone(&engine.shared);
    let task = SpawnedTask::spawn(async move {
        let _shared = shared;
        loop {
            let next = tokio::select! {
                // A kernel that stops at the deadline ends in the same moment as the deadline passes.
                biased;
                late = Deadline::passed(deadline) => Some(Err(late)),
                () = sender.closed() => None,
                next = AssertUnwindSafe(rows.next()).catch_unwind() => next.unwrap_or_else(|panic| Some(Err(defect(&*panic)))),
            };
            let Some(batch) = next else { return };
            let batch = batch.map_err(|error| Deadline::reason(deadline, error));
            let failed = batch.is_err();
            if sender.send(batch).await.is_err() || failed {
                return;
            }
        }
    });
    let stream = futures::stream::poll_fn(move |cx| {
        let _task = &task;
        receiver.poll_recv(cx)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, stream))
}

/// The rows of a plan.
pub(crate) async fn stream(state: SessionState, plan: &LogicalPlan) -> Result<SendableRecordBatchStream> {
    let plan = optimize(&state, plan)?;
    let plan = state.query_planner().create_physical_plan(&plan, &state).await?;
    Ok(execute_stream(plan, task_context(&state))?)
}

/// The optimised plan. For EXPLAIN DataFusion would write the plan down after each rule, which only VERBOSE shows.
fn optimize(state: &SessionState, plan: &LogicalPlan) -> Result<LogicalPlan, DataFusionError> {
    if let LogicalPlan::Explain(explain) = plan
        && !explain.verbose
        && let Ok(explained) = state.optimize(&explain.plan)
    {
        let explain = Explain { plan: Arc::new(explained), logical_optimization_succeeded: true, ..explain.clone() };
        return Ok(LogicalPlan::Explain(explain));
    }
    // Where a rule fails, EXPLAIN says which.
    state.optimize(plan)
}

/// A stream of rows that are in memory already.
///
/// # Errors
/// None today: what DataFusion's stream might refuse.
pub fn stream_of(rows: RecordBatch) -> Result<SendableRecordBatchStream, DataFusionError> {
    let schema = rows.schema();
    Ok(Box::pin(MemoryStream::try_new(vec![rows], schema, None)?))
}

/// The session as the tasks of a plan see it. Its functions are part of the plan: its tasks need no list of all there
/// are, which takes long to copy.
pub(crate) fn task_context(state: &SessionState) -> Arc<TaskContext> {
    Arc::new(TaskContext::new(
        None,
        state.session_id().to_owned(),
        state.config().clone(),
        HashMap::new(),
        HashMap::new(),
        HashMap::new(),
        HashMap::new(),
        Arc::clone(state.runtime_env()),
    ))
}

/// A panic is a defect of ours: it must not look like the end of the rows.
fn defect(panic: &(dyn Any + Send)) -> DataFusionError {
    bonnet_common::panics::raised(panic_text(panic)).into()
}
