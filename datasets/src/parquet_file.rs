//! Parquet files that are read here, not by DataFusion.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors;
use parquet::file::reader::{ChunkReader, Length};

use crate::guard::caught;
use crate::{Error, Result};

/// The reader of a file, with its schema.
pub(crate) fn reader(file: &Path) -> Result<ParquetRecordBatchReaderBuilder<Input>> {
    let input = Input(File::open(file).map_err(Error::io(file))?);
    caught(file, || ParquetRecordBatchReaderBuilder::try_new(input))?.map_err(|error| Error::file(file, error))
}

/// A file whose end is an error to who reads on: the reader of page headers skips fields without looking for the end, two
/// thousand million of them where a damaged header says so.
#[derive(Debug)]
pub(crate) struct Input(File);

impl Length for Input {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Input {
    type T = BufReader<ToTheEnd>;

    fn get_read(&self, start: u64) -> errors::Result<Self::T> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(ToTheEnd(file)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

#[derive(Debug)]
pub(crate) struct ToTheEnd(File);

impl Read for ToTheEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends here")),
            read => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_beyond_the_end_gets_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"0123456789").unwrap();
        let input = Input(File::open(file.path()).unwrap());
        assert_eq!((input.len(), input.get_bytes(7, 3).unwrap().as_ref()), (10, &b"789"[..]));
        let mut rest = input.get_read(8).unwrap();
        let mut two = [0; 2];
        rest.read_exact(&mut two).unwrap();
        assert_eq!(&two, b"89");
        assert_eq!(rest.read(&mut two).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
