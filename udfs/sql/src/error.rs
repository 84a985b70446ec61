//! The errors of functions: of usage, of running, and of kernels that were stopped.

use std::error::Error;

use bonnet_common::{ErrorKind, Raised};
use bonnet_graph::Stopped;
use datafusion::common::{DataFusionError, Result};
use datafusion::sql::sqlparser::tokenizer::Span;

/// An error of usage: what was found, where, and what to do.
pub fn usage_error<T>(text: impl Into<String>) -> Result<T> {
    Err(DataFusionError::Plan(text.into()))
}

/// An error of usage at a place of the statement: what was found, and what to do.
pub(crate) fn usage_error_at<T>(at: Span, text: impl Into<String>) -> Result<T> {
    Err(Raised::new(ErrorKind::Statement, text).at(at).into())
}

/// An error of a function's usage with the function's name in front.
pub fn named_error(function: &str, error: DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::Plan(text) if !text.starts_with(function) => {
            DataFusionError::Plan(format!("{function}: {text}"))
        }
        DataFusionError::External(inner) => match inner.downcast::<Raised>() {
            Ok(raised) if !raised.text().starts_with(function) => raised.behind(&format!("{function}: ")).into(),
            Ok(raised) => DataFusionError::External(raised),
            Err(inner) => DataFusionError::External(inner),
        },
        other => other,
    }
}

/// An error in running: what was found, where, and what to do.
pub fn execution_error(text: impl Into<String>) -> DataFusionError {
    DataFusionError::Execution(text.into())
}

/// The error for a kernel that was stopped.
pub fn stopped(reason: Stopped) -> DataFusionError {
    match reason {
        Stopped::Cancelled => DataFusionError::Execution(reason.to_string()),
        Stopped::OutOfMemory(text) => DataFusionError::ResourcesExhausted(text),
    }
}

/// The error of a kernel, with the function's name; or that the kernel was stopped, if this is the error or its source.
pub fn kernel_error(function: &str, error: impl Error + 'static) -> DataFusionError {
    let reasons = [Some(&error as &(dyn Error + 'static)), error.source()];
    match reasons.into_iter().flatten().find_map(<dyn Error>::downcast_ref::<Stopped>) {
        Some(reason) => stopped(reason.clone()),
        None => execution_error(format!("{function}: {error}")),
    }
}

/// The text of a refusal of memory, without the words that every such error begins with.
pub fn memory_text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::ResourcesExhausted(text) => text.clone(),
        DataFusionError::Context(_, inner) => memory_text(inner),
        other => other.strip_backtrace(),
    }
}

/// The error when the pool refuses memory.
pub(crate) fn out_of_memory(function: &str, bytes: usize, error: &DataFusionError) -> Stopped {
    Stopped::OutOfMemory(format!(
        "{function}: no room for {bytes} bytes more. {}. Raise --memory-limit, or compute on fewer rows or columns",
        memory_text(error)
    ))
}
