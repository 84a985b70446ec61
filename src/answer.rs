//! The answer of a statement.

use datafusion::execution::SendableRecordBatchStream;

/// The answer of a statement.
pub enum Answer {
    /// Rows, which stream as they are made. Dropping the stream ends the query.
    Rows(SendableRecordBatchStream),
    /// The statement is done; the text says what was done (`CREATE GRAPH`, `INSERT 3`).
    Done(String),
}
