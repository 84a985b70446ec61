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

/// Rows as the interface hands them out.
pub(super) type BatchReader = Box<dyn RecordBatchReader + Send>;

/// Cancels what a connection, or one of its statements, is doing, from any thread.
#[derive(Clone)]
pub(super) struct Cancel {
    own: Arc<watch::Sender<u64>>,
    /// That of the connection, which holds for all of its statements.
    connection: Arc<watch::Sender<u64>>,
}

impl Cancel {
    pub(super) fn of_connection() -> Self {
        let own = Arc::new(watch::Sender::new(0));
        Self { connection: Arc::clone(&own), own }
    }

    /// That of another statement of the connection.
    pub(super) fn of_statement(&self) -> Self {
        Self { own: Arc::new(watch::Sender::new(0)), connection: Arc::clone(&self.connection) }
    }

    /// Waits for work, unless it is cancelled from now on. The work is dropped then, which ends it.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        self.listen().wait(work)
    }

    /// Hears every call from now on.
    pub(super) fn listen(&self) -> Listener {
        Listener { own: self.own.subscribe(), connection: self.connection.subscribe(), _cancel: self.clone() }
    }
}

impl CancelHandle for Cancel {
    fn try_cancel(&self) -> Result<()> {
        self.own.send_modify(|count| *count += 1);
        Ok(())
    }
}

/// Hears whether work is cancelled, also between two pieces of it.
pub(super) struct Listener {
    own: watch::Receiver<u64>,
    connection: watch::Receiver<u64>,
    // Receivers without a sender would hear its end.
    _cancel: Cancel,
}

impl Listener {
    /// Waits for work, unless it is or was cancelled. The work is dropped then, which ends it.
    pub(super) fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T> {
        let (own, connection) = (pin!(self.own.changed()), pin!(self.connection.changed()));
        // Asked first: work may be done whenever it is asked.
        let cancelled = select(own, connection);
        match executor::block_on(select(cancelled, pin!(work))) {
            Either::Left(_) => Err(Error::with_message_and_status("the statement was cancelled", Status::Cancelled)),
            Either::Right((done, _)) => Ok(done),
        }
    }
}

/// One batch as rows.
pub(super) fn one_batch(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<BatchReader> {
    let batch = RecordBatch::try_new(Arc::clone(schema), columns);
    let batch = batch.map_err(|error| Error::with_message_and_status(error.to_string(), Status::Internal))?;
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], Arc::clone(schema))))
}

/// Rows that come as they are read.
pub(super) struct Reader {
    rows: Option<SendableRecordBatchStream>,
    schema: SchemaRef,
    listener: Listener,
}

impl Reader {
    pub(super) fn new(rows: SendableRecordBatchStream, listener: Listener) -> Self {
        Self { schema: rows.schema(), rows: Some(rows), listener }
    }
}

impl Iterator for Reader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows.as_mut()?;
        let next = match self.listener.wait(rows.next()) {
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
