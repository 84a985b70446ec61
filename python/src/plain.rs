//! Rows of other libraries as the engine takes them: their columns, without what is written beside them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Fields, Schema, SchemaRef};
use arrow::error::ArrowError;

/// A schema without the metadata that libraries write for themselves, as pandas does; every column may be NULL.
pub(crate) fn schema(schema: &SchemaRef) -> SchemaRef {
    let fields = schema
        .fields()
        .iter()
        .map(|field| Arc::new(field.as_ref().clone().with_metadata(HashMap::new()).with_nullable(true)));
    Arc::new(Schema::new(fields.collect::<Fields>()))
}

/// The same columns under a schema of the same types.
///
/// # Errors
/// If the types differ.
pub(crate) fn under(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
}
