//! Errors of the statement.

use bonnet_sql::stopped;
use datafusion::common::DataFusionError;

use crate::Error;

/// An error of the kernels as one of `CREATE GRAPH`.
pub(super) fn relational(error: Error) -> DataFusionError {
    match error {
        Error::Stopped(reason) => stopped(reason),
        Error::Key(text) => DataFusionError::Plan(format!("CREATE GRAPH: {text}")),
    }
}
