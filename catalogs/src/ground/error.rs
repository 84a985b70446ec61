//! Errors and panics of readers as errors of queries.

use std::any::Any;

use datafusion::common::DataFusionError;

/// A reader's error, whose message stays as it is.
pub(crate) fn external(error: bonnet_datasets::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The message of a panic, if it has one.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied())
}
