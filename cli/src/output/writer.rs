//! What the formats have in common.

use std::io::{self, Write};

use arrow::array::RecordBatch;

/// Writes one result in one format. Nothing is written before the first batch or the end.
pub(super) trait Writer {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()>;

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
