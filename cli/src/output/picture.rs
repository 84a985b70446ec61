//! Pictures: a result is drawn once all of its rows are there.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bonnet_pictures::Request;
use bonnetdb::pictures::{self, Document};

use super::writer::Writer;

/// Draws a result.
pub(super) struct Picture {
    document: Document,
    request: Request,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// A page begins with this result.
    first: bool,
}

impl Picture {
    pub(super) fn new(document: Document, request: Request, schema: SchemaRef, first: bool) -> Self {
        Self { document, request, schema, batches: Vec::new(), first }
    }
}

impl Writer for Picture {
    fn write(&mut self, batch: &RecordBatch, _: &mut dyn Write) -> io::Result<()> {
        self.batches.push(batch.clone());
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Self { document, request, schema, batches, first } = self;
        let bytes = match document {
            Document::Html if !*first => pictures::figure(schema, batches, request).map(String::into_bytes),
            _ => pictures::document(*document, schema, batches, request),
        };
        out.write_all(&bytes.map_err(io::Error::other)?)
    }
}
