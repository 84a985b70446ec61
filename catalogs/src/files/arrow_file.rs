//! Whether an Arrow file can be what it says, before it is read: its reader believes every length in it, and would
//! allocate what a damaged one says.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow::ipc::reader::FileReader;
use arrow::ipc::{Block, Message, MessageHeader, RecordBatch, root_as_footer, root_as_message};
use datafusion::common::Result;

use super::file_fault::fault;

const MAGIC: &[u8; 6] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The most bytes that a compressed one can stand for: a block of Zstandard that repeats one byte.
const MOST_PER_BYTE: u64 = 1 << 15;

/// A batch may have so many rows whatever it holds: columns of NULLs hold nothing.
const FEW_ROWS: u64 = 1 << 20;

/// Checks the lengths in a file, or in a stream that is kept as a file: each part lies within it, and its batches can hold
/// their rows. Reads the heads of the batches. Gives the most bytes that one of them holds once it is unpacked.
///
/// # Errors
/// Says where the first length is that cannot be.
pub(crate) fn check(path: &Path) -> Result<u64> {
    let checked = File::open(path).map_err(|error| error.to_string()).and_then(|file| {
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let mut checked = Checked { file, length, largest: 0 };
        checked.check().map(|()| checked.largest)
    });
    match checked {
        Ok(largest) => Ok(largest),
        Err(what) => {
            // Messages of flatbuffers go on with the positions of each table.
            let what = what.lines().next().unwrap_or_default();
            Err(fault(path, format!("is damaged, or no Arrow file: {what}; take a whole copy of it, or write it anew")))
        }
    }
}

struct Checked {
    file: File,
    length: u64,
    largest: u64,
}

impl Checked {
    fn check(&mut self) -> Result<(), String> {
        match self.bytes(0, 6) {
            Ok(start) if start == MAGIC => self.blocks(),
            _ => self.stream(),
        }
    }

    /// Bytes of the file, which has to have them.
    fn bytes(&mut self, at: u64, length: u64) -> Result<Vec<u8>, String> {
        if at.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(format!("{length} bytes at byte {at} reach beyond its end at {}", self.length));
        }
        let mut bytes = vec![0; length as usize];
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| error.to_string()).map(|()| bytes)
    }

    /// A length at a byte, and whether it follows the mark of newer files.
    fn head(&mut self, at: u64) -> Result<(u64, u64), String> {
        let word = |bytes: &[u8]| [bytes[0], bytes[1], bytes[2], bytes[3]];
        let first = word(&self.bytes(at, 4)?);
        let (length, size) = match first {
            CONTINUATION => (word(&self.bytes(at + 4, 4)?), 8),
            length => (length, 4),
        };
        match u64::try_from(i32::from_le_bytes(length)) {
            Ok(length) => Ok((length, size)),
            Err(_) => Err(format!("the length at byte {at} is negative")),
        }
    }

    /// The parts that the end of a file lists.
    fn blocks(&mut self) -> Result<(), String> {
        let end = self.length.checked_sub(10).ok_or("it has no end")?;
        let tail = self.bytes(end, 10)?;
        if &tail[4..] != MAGIC {
            return Err("it does not end with ARROW1: it is cut short".to_owned());
        }
        let length = i32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        let length =
            u64::try_from(length).ok().filter(|length| *length <= end).ok_or("its footer has no such length")?;
        let footer = self.bytes(end - length, length)?;
        let footer = root_as_footer(&footer).map_err(|error| format!("its footer: {error}"))?;
        let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        for block in blocks.collect::<Vec<&Block>>() {
            let part = |length: i64| u64::try_from(length).map_err(|_| "its footer has a negative length".to_owned());
            let (at, head, body) =
                (part(block.offset())?, part(block.metaDataLength().into())?, part(block.bodyLength())?);
            let (length, size) = self.head(at)?;
            if length + size > head {
                return Err(format!("the message at byte {at} is longer than its block"));
            }
            let message = self.bytes(at + size, length)?;
            let message = root_as_message(&message).map_err(|error| format!("the message at byte {at}: {error}"))?;
            let start = at.checked_add(head).ok_or("its footer has a length beyond all")?;
            self.message(message, start, body)?;
        }
        // What cannot be opened as a file is opened as a stream by DataFusion, and then "ARRO" is a length.
        let file = self.file.try_clone().map_err(|error| error.to_string())?;
        let opened = catch_unwind(AssertUnwindSafe(|| FileReader::try_new(file, None).map(drop)));
        opened.map_err(|_| "its footer cannot be read".to_owned())?.map_err(|error| error.to_string())
    }

    /// The messages of a stream, one after the other.
    fn stream(&mut self) -> Result<(), String> {
        let mut at = 0;
        while at < self.length {
            let (length, size) = self.head(at)?;
            if length == 0 {
                break;
            }
            let message = self.bytes(at + size, length)?;
            let message = root_as_message(&message).map_err(|error| format!("the message at byte {at}: {error}"))?;
            let body = u64::try_from(message.bodyLength()).map_err(|_| "a message has a negative length".to_owned())?;
            let start = at + size + length;
            self.message(message, start, body)?;
            at = start + body;
        }
        Ok(())
    }

    /// A message whose body lies there.
    fn message(&mut self, message: Message<'_>, start: u64, body: u64) -> Result<(), String> {
        if start.checked_add(body).is_none_or(|end| end > self.length) {
            return Err(format!("a part of {body} bytes at byte {start} reaches beyond its end at {}", self.length));
        }
        match message.header_type() {
            MessageHeader::RecordBatch => {
                message.header_as_record_batch().map_or(Ok(()), |it| self.batch(it, start, body))
            }
            MessageHeader::DictionaryBatch => {
                let batch = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
                batch.map_or(Ok(()), |it| self.batch(it, start, body))
            }
            _ => Ok(()),
        }
    }

    fn batch(&mut self, batch: RecordBatch<'_>, start: u64, body: u64) -> Result<(), String> {
        let mut total = 0u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (Ok(at), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
                return Err(format!("a buffer of the batch at byte {start} has a negative length"));
            };
            if at.checked_add(length).is_none_or(|end| end > body) {
                return Err(format!("a buffer of the batch at byte {start} reaches beyond the batch"));
            }
            let mut unpacked = length;
            if batch.compression().is_some() && length > 0 {
                let says = self.bytes(start + at, 8.min(length))?;
                let says = says.try_into().map(i64::from_le_bytes).map_err(|_| "a buffer has no length".to_owned())?;
                // -1 stands for bytes as they are.
                unpacked = u64::try_from(says).unwrap_or(length);
                if unpacked > length.saturating_mul(MOST_PER_BYTE) {
                    return Err(format!(
                        "a buffer of {length} bytes at byte {} says that it holds {unpacked}",
                        start + at
                    ));
                }
            }
            total = total.saturating_add(unpacked);
        }
        self.largest = self.largest.max(total);
        // A value takes a bit at the least.
        let most = total.saturating_mul(8).max(FEW_ROWS);
        let rows = batch.nodes().into_iter().flatten().map(|node| node.length());
        match rows.chain([batch.length()]).find(|rows| u64::try_from(*rows).map_or(true, |rows| rows > most)) {
            Some(rows) => Err(format!("the batch at byte {start} says that it has {rows} rows in {total} bytes")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringArray};
    use arrow::ipc::CompressionType;
    use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use arrow::record_batch::RecordBatch;

    use super::*;

    fn files() -> [Vec<u8>; 3] {
        let rows = RecordBatch::try_from_iter([
            ("a", Arc::new(Int64Array::from_iter_values(0..5000)) as _),
            ("b", Arc::new(StringArray::from_iter_values((0..5000).map(|i| format!("text {i}")))) as _),
        ])
        .unwrap();
        let packed = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
        let file = |options| {
            let mut writer = FileWriter::try_new_with_options(Vec::new(), &rows.schema(), options).unwrap();
            writer.write(&rows).unwrap();
            writer.into_inner().unwrap()
        };
        let mut stream = StreamWriter::try_new(Vec::new(), &rows.schema()).unwrap();
        stream.write(&rows).unwrap();
        [file(IpcWriteOptions::default()), file(packed), stream.into_inner().unwrap()]
    }

    fn checked(bytes: &[u8]) -> Result<u64> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        check(file.path())
    }

    #[test]
    fn whole_files_and_streams_pass() {
        for bytes in files() {
            // 5,000 integers, as many offsets, and the strings.
            let most = checked(&bytes).unwrap();
            assert!((40_000 + 20_000 + 40_000..120_000).contains(&most), "{most}");
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_found() {
        let [plain, packed, stream] = files();
        for bytes in [&plain, &packed, &stream] {
            let error = checked(&bytes[..bytes.len() / 2]).unwrap_err().to_string();
            assert!(error.contains("is damaged"), "{error}");
        }
        // The length of the unpacked bytes stands before the frame's own mark.
        let frame = packed.windows(4).position(|bytes| bytes == [0x04, 0x22, 0x4d, 0x18]).unwrap();
        // Without the list of its batches a file is none, and no stream either.
        let mut damaged = plain.clone();
        let end = damaged.len();
        damaged[end - 30..end - 10].fill(0);
        assert!(checked(&damaged).is_err());
        let mut damaged = packed;
        damaged[frame - 8..frame].copy_from_slice(&i64::MAX.to_le_bytes());
        let error = checked(&damaged).unwrap_err().to_string();
        assert!(error.contains("says that it holds 9223372036854775807"), "{error}");
    }
}
