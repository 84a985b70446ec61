//! Rows of a statement as ADBC reads them, and how they are cancelled.

use std::sync::Arc;

use adbc_core::CancelHandle;
use adbc_core::error::{Error, Result, Status};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use datafusion::execution::SendableRecordBatchStream;
use futures::future::{Either, select};
use futures::{StreamExt, executor};
use std::pin::pin;
use tokio::sync::watch;

use super::failed;

/// Cancels what a statement or connection is doing, from any thread.
#[derive(Clone)]
pub(super) struct Cancel(Arc<watch::Sender<u64>>);

impl Cancel {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Waits for work, unless it is cancelled from now on. The work is dropped then, which ends it.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let mut cancelled = self.0.subscribe();
        executor::block_on(async {
            match select(pin!(work), pin!(cancelled.changed())).await {
                Either::Left((done, _)) => Ok(done),
                Either::Right(_) => {
                    Err(Error::with_message_and_status("the statement was cancelled", Status::Cancelled))
                }
            }
        })
    }
}

impl CancelHandle for Cancel {
    fn try_cancel(&self) -> Result<()> {
        self.0.send_modify(|count| *count += 1);
        Ok(())
    }
}

/// One batch as rows.
pub(super) fn one_batch(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<Box<dyn RecordBatchReader + Send>> {
    let batch = RecordBatch::try_new(Arc::clone(schema), columns);
    let batch = batch.map_err(|error| Error::with_message_and_status(error.to_string(), Status::Internal))?;
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], Arc::clone(schema))))
}

/// Rows that come as they are read.
pub(super) struct Reader {
    rows: Option<SendableRecordBatchStream>,
    schema: SchemaRef,
    cancel: Cancel,
}

impl Reader {
    pub(super) fn new(rows: SendableRecordBatchStream, cancel: Cancel) -> Self {
        Self { schema: rows.schema(), rows: Some(rows), cancel }
    }
}

impl Iterator for Reader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows.as_mut()?;
        let next = match self.cancel.wait(rows.next()) {
            Ok(Some(Ok(batch))) => return Some(Ok(batch)),
            Ok(Some(Err(error))) => Some(Err(ArrowError::ComputeError(failed(error.into()).message))),
            Ok(None) => None,
            Err(cancelled) => Some(Err(ArrowError::ComputeError(cancelled.message))),
        };
        self.rows = None;
        next
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
