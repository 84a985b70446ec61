//! The rows of a job, as it ends.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use bonnet_sql::{Run, execution_error};
use datafusion::common::Result;

use crate::sql::jobs::JobRow;

/// The rows of a job of `function`: its own columns behind those that it came with in one of `batches`.
pub(in crate::sql) fn emit(
    run: &Run,
    function: &str,
    batches: &[RecordBatch],
    job: &JobRow,
    own: Vec<ArrayRef>,
) -> Result<()> {
    let rows = own.first().map_or(0, |column| column.len());
    let size = run.context().session_config().batch_size().max(1);
    for start in (0..rows).step_by(size) {
        let length = size.min(rows - start);
        let mut columns = job.carried(&batches[job.batch], length)?;
        columns.extend(own.iter().map(|column| column.slice(start, length)));
        let batch = RecordBatch::try_new(Arc::clone(run.schema()), columns);
        run.emit(batch.map_err(|error| execution_error(format!("{function}: {error}")))?)?;
    }
    Ok(())
}
