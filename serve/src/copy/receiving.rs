//! `COPY ... FROM STDIN`: the client's bytes become rows of a table, all of them or none.

use arrow::array::RecordBatch;
use bonnetdb::Session;
use datafusion::common::exec_datafusion_err;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use pgwire::messages::copy::CopyInResponse;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use tokio::sync::mpsc;

use super::binary::BinaryRecords;
use super::gathered::Gathered;
use super::records::Records;
use super::statement::Format;
use crate::failure::Failure;
use crate::keys::Key;
use crate::types;
use crate::wire::{Trouble, Wire};

/// Batches that wait for the table.
const MOST_WAITING: usize = 2;

/// What the table is handed. Without an end nothing is kept, so that rows which are cut off are none.
enum Part {
    Rows(RecordBatch),
    End,
}

/// The client's bytes as rows.
enum Reader {
    Lines(Records, Gathered),
    Binary(BinaryRecords, Gathered),
}

impl Reader {
    fn rows(&mut self) -> &mut Gathered {
        match self {
            Self::Lines(_, rows) | Self::Binary(_, rows) => rows,
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Lines(records, rows) => records.read(bytes, |record| rows.push(record)),
            Self::Binary(records, rows) => records.read(bytes, |record| rows.push(record)),
        }
    }

    /// The rest of the rows.
    fn finish(self) -> Result<Vec<RecordBatch>, Failure> {
        let mut rows = match self {
            Self::Lines(records, mut rows) => {
                records.finish(|record| rows.push(record))?;
                rows
            }
            Self::Binary(records, rows) => {
                records.finish()?;
                rows
            }
        };
        rows.end_batch()?;
        Ok(rows.take())
    }
}

/// Copies what the client sends into these columns of a table; how many rows.
///
/// # Errors
/// If there is no such table, a row does not fit it, or the client ends the COPY before its end: then nothing is kept.
pub(crate) async fn receive(
    wire: &mut Wire,
    key: &Key,
    session: &Session,
    (table, columns): (&str, &[String]),
    format: &Format,
) -> Result<u64, Trouble> {
    let listed = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let query = format!("SELECT {listed} FROM {table}");
    let refused = |error: bonnetdb::Error| Failure { position: None, ..Failure::of(&error, "") };
    let schema = wire.unless_cancelled(key, session.describe(&query)).await?.map_err(refused)?;
    let schema = schema.ok_or_else(|| Failure::new("42P01", format!("there is no table {table}")))?;
    let twice = |(at, field): &(usize, &std::sync::Arc<arrow::datatypes::Field>)| {
        schema.fields()[..*at].iter().any(|before| before.name() == field.name())
    };
    if let Some((_, field)) = schema.fields().iter().enumerate().find(twice) {
        return Err(Failure::new("42701", format!("COPY {table}: the column {} is listed twice", field.name())).into());
    }
    let count = schema.fields().len();
    let (mut reader, binary) = match format {
        Format::Lines(lines) => (Reader::Lines(Records::new(lines.clone()), Gathered::new(schema, "line")?), 0),
        Format::Binary => {
            let oids = schema.fields().iter().map(|field| types::of_column(field.data_type())).collect();
            (Reader::Binary(BinaryRecords::new(oids), Gathered::new(schema, "row")?), 1)
        }
    };
    let formats = vec![i16::from(binary); count];
    wire.put(PgWireBackendMessage::CopyInResponse(CopyInResponse::new(binary, count as i16, formats)))?;
    wire.flush().await?;
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    let appended = session.append_stream(table, stream(&mut reader, receiver));
    let mut appended = std::pin::pin!(appended);
    // Whichever ends first: the client's rows, or the table's patience with them.
    let failed = |done: bonnetdb::Result<u64>| match done {
        Ok(_) => Failure::new("XX000", "COPY ended before its rows"),
        Err(error) => refused(error),
    };
    loop {
        let message = tokio::select! {
            biased;
            () = key.cancelled.notified() => return Err(Failure::cancelled().into()),
            done = &mut appended => return Err(failed(done).into()),
            message = wire.message() => message?,
        };
        let (batches, ended) = match message {
            PgWireFrontendMessage::CopyData(data) => {
                reader.read(&data.data)?;
                (reader.rows().take(), None)
            }
            PgWireFrontendMessage::CopyDone(_) => {
                let empty = Reader::Binary(BinaryRecords::new(Vec::new()), Gathered::empty());
                (std::mem::replace(&mut reader, empty).finish()?, Some(Part::End))
            }
            PgWireFrontendMessage::CopyFail(fail) => {
                let text = format!("the client ended the COPY, nothing of it is kept: {}", fail.message);
                return Err(Failure { hint: None, message: text, ..Failure::new("57014", "") }.into());
            }
            // As the protocol asks.
            PgWireFrontendMessage::Flush(_) | PgWireFrontendMessage::Sync(_) => continue,
            PgWireFrontendMessage::Terminate(_) => return Err(Trouble::Gone),
            _ => return Err(Failure::fatal("08P01", "the message is none that a client may send within a COPY").into()),
        };
        let ends = ended.is_some();
        for part in batches.into_iter().map(Part::Rows).chain(ended) {
            tokio::select! {
                biased;
                () = key.cancelled.notified() => return Err(Failure::cancelled().into()),
                done = &mut appended => return Err(failed(done).into()),
                // That nobody takes it is told by the table.
                _ = sender.send(part) => {}
            }
        }
        if ends {
            break;
        }
    }
    Ok(wire.unless_cancelled(key, appended).await?.map_err(refused)?)
}

/// The rows as a stream, which fails where they are cut off.
fn stream(reader: &mut Reader, receiver: mpsc::Receiver<Part>) -> SendableRecordBatchStream {
    let rows = futures::stream::try_unfold(receiver, |mut receiver| async move {
        match receiver.recv().await {
            Some(Part::Rows(batch)) => Ok(Some((batch, receiver))),
            Some(Part::End) => Ok(None),
            None => Err(exec_datafusion_err!("the rows of the COPY are cut off, nothing of it is kept")),
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(reader.rows().schema(), rows))
}
