//! Kinds of the engine's errors, for programs that tell them apart.

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};

use crate::errors::causes::causes;
use crate::errors::datafusion_words;
use crate::errors::panics;
use crate::{Error, Raised};

/// The kinds, each with the class of five letters that standard SQL and PostgreSQL have for it (SQLSTATE).
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $class:literal,)+) => {
        /// The kind of an error, as the exceptions of PEP 249, the status codes of ADBC and the classes of PostgreSQL have it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// The class of five letters that standard SQL and PostgreSQL have for it (SQLSTATE).
            pub fn sqlstate(self) -> &'static str {
                match self {
                    $(Self::$kind => $class,)+
                }
            }
        }
    };
}

kinds! {
    /// The text is no SQL.
    Syntax = "42601",
    /// A table or a view that is not there.
    UnknownTable = "42P01",
    /// A schema that is not there.
    UnknownSchema = "3F000",
    /// A column that is not there.
    UnknownColumn = "42703",
    /// A function that is not there.
    UnknownFunction = "42883",
    /// A setting that is not there.
    UnknownSetting = "42704",
    /// An object of this name is there already.
    AlreadyExists = "42P07",
    /// The statement is wrong in another way.
    Statement = "42000",
    /// A division by zero.
    DivisionByZero = "22012",
    /// A number that its type cannot hold.
    OutOfRange = "22003",
    /// A value that is none of the type it is cast to.
    Cast = "22P02",
    /// A value that is wrong in another way.
    Data = "22000",
    /// A PRIMARY KEY or UNIQUE would hold a value twice.
    RepeatedKey = "23505",
    /// A NULL in a column that takes none.
    MissingValue = "23502",
    /// The engine does not do this.
    NotSupported = "0A000",
    /// The session may not do this: `bonnet.external_access` is off.
    Forbidden = "42501",
    /// A change of a database that is open for reading alone.
    ReadOnly = "25006",
    /// BEGIN within a transaction.
    TransactionOpen = "25001",
    /// COMMIT or ROLLBACK without a transaction.
    NoTransaction = "25P01",
    /// The memory limit is reached.
    Memory = "53200",
    /// Files, or other databases.
    Files = "58030",
    /// The statement ran past `bonnet.statement_timeout`.
    Timeout = "57014",
    /// A defect of the engine.
    Internal = "XX000",
}

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

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Raised(error) => error.kind(),
            Self::Syntax(_) => ErrorKind::Syntax,
            Self::DataFusion(error) => ErrorKind::of(error),
            Self::Io(error) => Raised::within(error).map_or(ErrorKind::Files, Raised::kind),
        }
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
