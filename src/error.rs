//! The engine's error: what happened, where, and what to do, in one text.

use datafusion::common::DataFusionError;

/// The result of whatever can fail in the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. Its text is made for the person who typed the statement.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The statement is refused or failed; the text says what, where and what to do.
    #[error("{0}")]
    Statement(String),
    /// The query was cancelled or ran past its time.
    #[error("{0}")]
    Cancelled(String),
    /// DataFusion refused the statement or failed in running it.
    #[error("{}", message(.0))]
    DataFusion(#[from] DataFusionError),
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Error {
    /// An error with this text.
    pub fn statement(text: impl Into<String>) -> Self {
        Self::Statement(text.into())
    }
}

/// The text of a DataFusion error without the wrappers that say nothing to a user.
fn message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => message(inner),
        DataFusionError::Shared(inner) => message(inner),
        DataFusionError::External(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(inner) => message(inner),
            None => inner.to_string(),
        },
        DataFusionError::Plan(text)
        | DataFusionError::Execution(text)
        | DataFusionError::Configuration(text)
        | DataFusionError::ResourcesExhausted(text) => own_words(text).to_owned(),
        other => other.strip_backtrace(),
    }
}

/// What a function says of its arguments, without what DataFusion says before and behind it.
fn own_words(text: &str) -> &str {
    match text.split_once("user-defined coercion failed with: Error during planning: ") {
        Some((_, rest)) => rest.split_once(" No function matches the given name").map_or(rest, |(own, _)| own),
        None => text,
    }
}
