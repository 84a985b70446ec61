//! A running query: its rows cross from the engine's runtime to whoever waits for them.

use std::sync::Arc;
use std::time::Duration;

use datafusion::common::DataFusionError;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::Engine;

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

    /// What a statement that is late is told.
    pub(crate) fn error(self) -> DataFusionError {
        DataFusionError::Execution(format!(
            "the statement ran past bonnet.statement_timeout ({:?}); raise it with SET bonnet.statement_timeout = '...'",
            self.limit
        ))
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

/// Pumps rows on the engine's runtime. Dropping the stream that is returned ends the query.
pub(crate) fn pump(
    engine: &Engine,
    mut rows: SendableRecordBatchStream,
    deadline: Option<Deadline>,
) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let (sender, mut receiver) = mpsc::channel(WAITING);
    let _entered = engine.shared.runtime().enter();
    // The task holds the engine: its threads must outlive the query.
    let shared = Arc::clone(&engine.shared);
    let task = SpawnedTask::spawn(async move {
        let _shared = shared;
        loop {
            let next = tokio::select! {
                next = rows.next() => next,
                late = Deadline::passed(deadline) => Some(Err(late)),
                () = sender.closed() => None,
            };
            let Some(batch) = next else { return };
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
