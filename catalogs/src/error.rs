//! Errors of readers as errors of queries.

use datafusion::common::DataFusionError;

/// A reader's error, whose text stays as it is.
pub(crate) fn external(error: bonnet_datasets::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
