//! The kind of an error of DataFusion.

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};

use crate::errors::causes::causes;
use crate::errors::datafusion_words;
use crate::errors::panics;
use crate::{ErrorKind, Raised};

impl ErrorKind {
    /// The kind of an error of DataFusion: that of the error of ours that it wraps, or what its words or its type say.
    pub fn of(error: &DataFusionError) -> Self {
        if let Some(raised) = Raised::within(error) {
            return raised.kind();
        }
        let root = error.find_root();
        let errors = causes(error).filter_map(<dyn std::error::Error>::downcast_ref::<DataFusionError>);
        errors.chain([root]).find_map(datafusion_words::kind).unwrap_or_else(|| by_type(root))
    }
}

/// The kind of an error whose words say none.
fn by_type(error: &DataFusionError) -> ErrorKind {
    match error {
        DataFusionError::SQL(..) => ErrorKind::Syntax,
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::FieldNotFound { .. } if datafusion_words::is_of_correlated_join(schema) => {
                ErrorKind::NotSupported
            }
            SchemaError::FieldNotFound { .. } => ErrorKind::UnknownColumn,
            _ => ErrorKind::Statement,
        },
        DataFusionError::Plan(_) | DataFusionError::Configuration(_) => ErrorKind::Statement,
        DataFusionError::ResourcesExhausted(_) => ErrorKind::Memory,
        DataFusionError::NotImplemented(_) => ErrorKind::NotSupported,
        DataFusionError::Internal(_) => ErrorKind::Internal,
        DataFusionError::Execution(_) => ErrorKind::Data,
        DataFusionError::ArrowError(error, _) => match error.as_ref() {
            ArrowError::DivideByZero => ErrorKind::DivisionByZero,
            ArrowError::ArithmeticOverflow(_) => ErrorKind::OutOfRange,
            ArrowError::CastError(_) | ArrowError::ParseError(_) => ErrorKind::Cast,
            _ => ErrorKind::Data,
        },
        DataFusionError::ExecutionJoin(inner) if inner.is_panic() => panics::of_task(inner).kind(),
        _ => ErrorKind::Files,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Error;

    #[test]
    fn every_kind_has_a_class_of_its_own() {
        let classes: HashSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.sqlstate()).collect();
        assert_eq!(classes.len(), ErrorKind::ALL.len());
        for class in classes {
            let plain = class.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
            assert!(class.len() == 5 && plain, "{class}");
        }
    }

    #[test]
    fn words_of_ours_say_no_kind() {
        for kind in ErrorKind::ALL {
            let error = Raised::new(*kind, "there is no table t: division by zero is not supported and out of range");
            assert_eq!(Error::from(error).kind(), *kind);
        }
        for text in ["there is no table t", "bonnet.external_access is off", "no transaction is open"] {
            assert_eq!(Error::statement(text).kind(), ErrorKind::Statement, "{text}");
        }
    }
}
