//! What kind of error an error of the engine is, for interfaces that tell kinds apart.

use bonnetdb::Error;
use datafusion::common::DataFusionError;

/// The kinds that PEP 249 and ADBC have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The statement is wrong.
    Programming,
    /// A value is out of range, or cannot be cast.
    Data,
    /// Files and memory.
    Operational,
    /// The statement ran past its time.
    Timeout,
    /// A key is repeated, or a NULL stands where there is none.
    Integrity,
    /// A defect of the engine.
    Internal,
    /// The engine does not do this.
    NotSupported,
}

/// The kind of an error whose text is `text`.
pub(crate) fn class(error: &Error, text: &str) -> Class {
    if text.contains("by a defect of the engine") {
        return Class::Internal;
    }
    match error {
        Error::Statement(_) => Class::Programming,
        Error::Cancelled(_) | Error::Io(_) => Class::Operational,
        Error::DataFusion(inner) => match inner.find_root() {
            DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::Configuration(_) => Class::Programming,
            DataFusionError::NotImplemented(_) => Class::NotSupported,
            DataFusionError::Internal(_) => Class::Internal,
            DataFusionError::Execution(_) if text.contains("bonnet.statement_timeout") => Class::Timeout,
            DataFusionError::Execution(_) if breaks_a_key(text) => Class::Integrity,
            DataFusionError::Execution(_) | DataFusionError::ArrowError(..) => Class::Data,
            _ => Class::Operational,
        },
    }
}

/// Whether a change was refused for a PRIMARY KEY, UNIQUE or NOT NULL.
fn breaks_a_key(text: &str) -> bool {
    text.contains("nothing was changed") && ["PRIMARY KEY", "UNIQUE", "NULL"].iter().any(|key| text.contains(key))
}
