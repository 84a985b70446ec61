//! `COPY ... TO STDOUT`: rows as messages, one a row.

use arrow::error::ArrowError;
use bonnetdb::Error;
use bytes::{BufMut, BytesMut};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::copy::{CopyDone, CopyOutResponse};

use super::binary::SIGNATURE;
use super::statement::{Format, LineFormat};
use crate::failure::Failure;
use crate::keys::Key;
use crate::values::{Cells, Column, Rows, columns};
use crate::wire::{GATHERED, Trouble, Wire};

/// The kind byte of a message of data.
const COPY_DATA: u8 = b'd';

/// Sends rows to the client; how many.
///
/// # Errors
/// If the rows fail, or the client cancels them.
pub(crate) async fn send(
    wire: &mut Wire,
    key: &Key,
    mut rows: SendableRecordBatchStream,
    format: &Format,
) -> Result<usize, Trouble> {
    let failed = |error: Error| Failure { position: None, ..Failure::of(&error, "") };
    let too_long = |error: ArrowError| failed(error.into());
    let binary = i8::from(*format == Format::Binary);
    let columns = columns(&rows.schema(), &[i16::from(binary)]).map_err(|text| Failure::new("08P01", text))?;
    let formats = vec![i16::from(binary); columns.len()];
    let response = CopyOutResponse::new(binary, columns.len() as i16, formats);
    wire.put(PgWireBackendMessage::CopyOutResponse(response))?;
    match format {
        Format::Binary => data(wire.waiting(), |out| {
            out.put_slice(SIGNATURE);
            out.put_i64(0);
            Ok(())
        }),
        Format::Lines(lines) if lines.header => data(wire.waiting(), |out| {
            header(lines, &columns, out);
            Ok(())
        }),
        Format::Lines(_) => Ok(()),
    }
    .map_err(too_long)?;
    let mut count = 0;
    while let Some(batch) = wire.unless_cancelled(key, rows.next()).await? {
        let batch = batch.map_err(|error| failed(error.into()))?;
        let rows = Rows::new(&batch, &columns).map_err(too_long)?;
        let mut next = 0;
        while next < rows.len() {
            next = write(&rows, next, format, wire.waiting()).map_err(too_long)?;
            if wire.waiting().len() >= GATHERED {
                wire.flush_unless_cancelled(key).await?;
            }
        }
        count += rows.len();
    }
    if binary == 1 {
        data(wire.waiting(), |out| {
            out.put_i16(-1);
            Ok(())
        })
        .map_err(too_long)?;
    }
    wire.put(PgWireBackendMessage::CopyDone(CopyDone::new()))?;
    Ok(count)
}

/// Writes rows until enough waits; the first that is left.
fn write(rows: &Rows, mut row: usize, format: &Format, out: &mut BytesMut) -> Result<usize, ArrowError> {
    let cells = rows.cells()?;
    let mut value = BytesMut::new();
    while row < rows.len() && out.len() < GATHERED {
        data(out, |out| match format {
            Format::Binary => {
                out.put_i16(cells.len() as i16);
                cells.iter().try_for_each(|cell| cell.write(row, out))
            }
            Format::Lines(lines) => line(lines, &cells, row, &mut value, out),
        })?;
        row += 1;
    }
    Ok(row)
}

/// A message of data.
fn data(out: &mut BytesMut, body: impl FnOnce(&mut BytesMut) -> Result<(), ArrowError>) -> Result<(), ArrowError> {
    out.put_u8(COPY_DATA);
    let start = out.len();
    out.put_i32(0);
    body(out)?;
    let length = i32::try_from(out.len() - start);
    let length = length.map_err(|_| ArrowError::InvalidArgumentError("a row has more than 2 GB".to_owned()))?;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn header(format: &LineFormat, columns: &[Column], out: &mut BytesMut) {
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            out.put_u8(format.delimiter);
        }
        field(format, column.name().as_bytes(), columns.len() == 1, out);
    }
    out.put_u8(b'\n');
}

fn line(
    format: &LineFormat,
    cells: &[Cells<'_>],
    row: usize,
    value: &mut BytesMut,
    out: &mut BytesMut,
) -> Result<(), ArrowError> {
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            out.put_u8(format.delimiter);
        }
        if cell.is_null(row) {
            out.put_slice(format.null.as_bytes());
            continue;
        }
        value.clear();
        cell.write_value(row, value)?;
        field(format, value, cells.len() == 1, out);
    }
    out.put_u8(b'\n');
    Ok(())
}

/// A value that is not NULL, so that it is read back as itself. `alone` says that it is the only one of its line.
fn field(format: &LineFormat, value: &[u8], alone: bool, out: &mut BytesMut) {
    if !format.csv {
        for &byte in value {
            let letter = match byte {
                b'\\' => b'\\',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                8 => b'b',
                11 => b'v',
                12 => b'f',
                _ if byte == format.delimiter => byte,
                _ => {
                    out.put_u8(byte);
                    continue;
                }
            };
            out.put_slice(&[b'\\', letter]);
        }
        return;
    }
    let special = |byte: &u8| matches!(*byte, b'\n' | b'\r') || *byte == format.delimiter || *byte == format.quote;
    if value != format.null.as_bytes() && !value.iter().any(special) && !(alone && value == b"\\.") {
        out.put_slice(value);
        return;
    }
    out.put_u8(format.quote);
    for &byte in value {
        if byte == format.quote || byte == format.escape {
            out.put_u8(format.escape);
        }
        out.put_u8(byte);
    }
    out.put_u8(format.quote);
}

#[cfg(test)]
mod tests {
    use super::super::records::{Record, Records};
    use super::*;

    #[test]
    fn what_is_written_is_read_back_as_itself() {
        let values: [&[u8]; 9] =
            [b"plain", b"", b"\\N", b"a\tb\nc\r\\", b"x;y'z'", b"NA", b"\\.", b" a ", "é\u{b}".as_bytes()];
        for (csv, null, escape) in [(false, "\\N", b'\''), (false, "NA", b'\''), (true, "", b'\''), (true, "NA", b'\\')]
        {
            let format =
                LineFormat { csv, delimiter: b';', null: null.to_owned(), header: false, quote: b'\'', escape };
            for value in values {
                // Text cannot tell a value that is written as its own NULL, as in PostgreSQL.
                if !csv && value == null.as_bytes() && null == "NA" {
                    continue;
                }
                let mut out = BytesMut::new();
                field(&format, value, true, &mut out);
                out.put_u8(b'\n');
                let mut found = Vec::new();
                let mut records = Records::new(format.clone());
                records
                    .read(&out, |record: &Record| {
                        found.extend(record.fields().map(|field| field.map(<[u8]>::to_vec)));
                        Ok(())
                    })
                    .unwrap();
                assert_eq!(found, [Some(value.to_vec())], "{csv} {null}");
            }
        }
    }
}
