//! Lines of text files, compressed or not.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;

/// The mark that some programs of Windows put before a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The contents of a file, unpacked, without the byte order mark.
pub(super) fn open_text(
    path: &Path,
    compression: FileCompressionType,
) -> Result<BufReader<Box<dyn Read + Send>>, DataFusionError> {
    let file = File::open(path).map_err(DataFusionError::IoError)?;
    let mut text = compression.convert_read(BufReader::new(file))?;
    let mut start = Vec::new();
    text.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut start)?;
    if start == BYTE_ORDER_MARK {
        start.clear();
    }
    let text: Box<dyn Read + Send> = Box::new(io::Cursor::new(start).chain(text));
    Ok(BufReader::with_capacity(1 << 16, text))
}

/// The number of lines that end before a byte of a file, unpacked.
pub(super) fn lines_before(path: &Path, compression: FileCompressionType, byte: u64) -> io::Result<usize> {
    let mut text = compression.convert_read(File::open(path)?)?.take(byte);
    let (mut part, mut lines) = (vec![0; 1 << 16], 0);
    loop {
        let read = text.read(&mut part)?;
        if read == 0 {
            return Ok(lines);
        }
        lines += part[..read].iter().filter(|sign| **sign == b'\n').count();
    }
}
