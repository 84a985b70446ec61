//! Statements with their parameters, and how far their rows are.

use arrow::datatypes::SchemaRef;
use bonnetdb::Error;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::data::RowDescription;

use super::failure::Failure;
use super::keys::Key;
use super::values::{Column, Rows, columns};
use super::wire::{GATHERED, Gone, Trouble, Wire};

/// A statement with its parameters, and how far its rows are; a cursor is one, too.
pub(super) struct Portal {
    pub(super) text: String,
    pub(super) formats: Vec<i16>,
    pub(super) state: State,
    /// Whether it outlives its transaction.
    pub(super) held: bool,
}

pub(super) enum State {
    Waiting,
    Open(Answering),
    /// `FETCH`, or `MOVE`, so many rows of the cursor of this name.
    Fetching {
        cursor: String,
        count: usize,
        moves: bool,
    },
    /// A COPY, which sends its own messages.
    Copying(super::copy::CopyStatement),
    Done(String),
}

/// Rows on their way to the client.
pub(super) struct Answering {
    stream: SendableRecordBatchStream,
    pub(super) columns: Vec<Column>,
    batch: Option<Rows>,
    ended: bool,
    /// Rows that this answer has had.
    pub(super) count: usize,
}

impl Answering {
    /// The rows of a stream, in the formats that the client asked for.
    ///
    /// # Errors
    /// If these are formats of another number of columns.
    pub(super) fn new(stream: SendableRecordBatchStream, formats: &[i16]) -> Result<Self, Failure> {
        let columns = columns(&stream.schema(), formats).map_err(|text| Failure::new("08P01", text))?;
        Ok(Self { stream, columns, batch: None, ended: false, count: 0 })
    }

    /// Goes on in other formats.
    ///
    /// # Errors
    /// If these are formats of another number of columns.
    pub(super) fn format_as(&mut self, formats: &[i16]) -> Result<(), Failure> {
        self.columns = columns(&self.stream.schema(), formats).map_err(|text| Failure::new("08P01", text))?;
        if let Some(batch) = &mut self.batch {
            batch.format_as(&self.columns);
        }
        Ok(())
    }

    /// The columns of the rows.
    pub(super) fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }

    /// Describes the rows to the client.
    ///
    /// # Errors
    /// If the client is gone.
    pub(super) fn describe(&self, wire: &mut Wire) -> Result<(), Gone> {
        describe(&self.columns, wire)
    }

    /// Sends rows until there are no more or `most` are sent; whether all are. What the client has not taken yet waits in
    /// one buffer: no more rows are made before it is taken. With `moves` they are passed over.
    ///
    /// # Errors
    /// If the rows fail, the client cancels them, or is gone.
    pub(super) async fn send(
        &mut self,
        wire: &mut Wire,
        key: &Key,
        (most, moves): (usize, bool),
        statement: &str,
    ) -> Result<bool, Trouble> {
        let failed = |error: Error| Failure::of(&error, statement);
        let mut left = most;
        loop {
            while let Some(rows) = &mut self.batch {
                let written = match moves {
                    true => rows.skip(left),
                    false => rows.write(wire.waiting(), GATHERED, left).map_err(|error| failed(error.into()))?,
                };
                self.count += written;
                left -= written;
                if rows.is_empty() {
                    self.batch = None;
                }
                if wire.waiting().len() >= GATHERED {
                    wire.flush_unless_cancelled(key).await?;
                }
                if left == 0 {
                    return Ok(false);
                }
            }
            if self.ended || left == 0 {
                return Ok(self.ended);
            }
            match wire.unless_cancelled(key, self.stream.next()).await? {
                Some(Ok(batch)) => {
                    let rows = Rows::new(&batch, &self.columns).map_err(|error| failed(error.into()))?;
                    self.batch = Some(rows);
                }
                Some(Err(error)) => return Err(failed(error.into()).into()),
                None => self.ended = true,
            }
        }
    }
}

/// Describes columns to the client.
///
/// # Errors
/// If the client is gone.
pub(super) fn describe(columns: &[Column], wire: &mut Wire) -> Result<(), Gone> {
    let fields = columns.iter().map(Column::description).collect();
    wire.put(PgWireBackendMessage::RowDescription(RowDescription::new(fields)))
}
