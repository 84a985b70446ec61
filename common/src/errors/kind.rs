//! Kinds of the engine's errors, for programs that tell them apart.

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};

use crate::Error;

/// The kind of an error, as the exceptions of PEP 249, the status codes of ADBC and the classes of PostgreSQL have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is no SQL.
    Syntax,
    /// A table or a view that is not there.
    UnknownTable,
    /// A schema that is not there.
    UnknownSchema,
    /// A column that is not there.
    UnknownColumn,
    /// A function that is not there.
    UnknownFunction,
    /// A setting that is not there.
    UnknownSetting,
    /// An object of this name is there already.
    AlreadyExists,
    /// The statement is wrong in another way.
    Statement,
    /// A division by zero.
    DivisionByZero,
    /// A number that its type cannot hold.
    OutOfRange,
    /// A value that is none of the type it is cast to.
    Cast,
    /// A value that is wrong in another way.
    Data,
    /// A PRIMARY KEY or UNIQUE would hold a value twice.
    RepeatedKey,
    /// A NULL in a column that takes none.
    MissingValue,
    /// The engine does not do this.
    NotSupported,
    /// The session may not do this: `bonnet.external_access` is off.
    Forbidden,
    /// A change of a database that is open for reading alone.
    ReadOnly,
    /// BEGIN within a transaction.
    TransactionOpen,
    /// COMMIT or ROLLBACK without a transaction.
    NoTransaction,
    /// The memory limit is reached.
    Memory,
    /// Files, or other databases.
    Files,
    /// The statement ran past `bonnet.statement_timeout`.
    Timeout,
    /// A defect of the engine.
    Internal,
}

/// Signs of a kind in the text of an error whose type says little; the first that is found counts.
const SIGNS: &[(&str, ErrorKind)] = &[
    ("by a defect of the engine", ErrorKind::Internal),
    ("bonnet.external_access is off", ErrorKind::Forbidden),
    ("ran past bonnet.statement_timeout", ErrorKind::Timeout),
    (" twice; nothing was changed", ErrorKind::RepeatedKey),
    ("takes no NULL; nothing was changed", ErrorKind::MissingValue),
    ("is NOT NULL, and a row has NULL there", ErrorKind::MissingValue),
    ("for reading alone", ErrorKind::ReadOnly),
    ("transaction is open already", ErrorKind::TransactionOpen),
    ("no transaction is open", ErrorKind::NoTransaction),
    ("ROLLBACK cannot undo", ErrorKind::NotSupported),
    ("of the memory limit", ErrorKind::Memory),
    ("there is no table", ErrorKind::UnknownTable),
    ("there is no view", ErrorKind::UnknownTable),
    ("' not found", ErrorKind::UnknownTable),
    ("there is no schema", ErrorKind::UnknownSchema),
    ("there is no function", ErrorKind::UnknownFunction),
    ("Invalid function", ErrorKind::UnknownFunction),
    ("there is no setting", ErrorKind::UnknownSetting),
    ("exists already", ErrorKind::AlreadyExists),
    ("already exists", ErrorKind::AlreadyExists),
    ("division by zero", ErrorKind::DivisionByZero),
    ("verflow", ErrorKind::OutOfRange),
    ("out of range", ErrorKind::OutOfRange),
    ("Cannot cast", ErrorKind::Cast),
    ("cannot be cast", ErrorKind::Cast),
    ("not supported", ErrorKind::NotSupported),
];

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        let by_text = || {
            let text = self.to_string();
            SIGNS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, kind)| *kind)
        };
        match self {
            Self::Syntax(_) => ErrorKind::Syntax,
            Self::Statement(_) => by_text().unwrap_or(ErrorKind::Statement),
            Self::Io(_) => ErrorKind::Files,
            Self::DataFusion(error) => {
                let root = error.find_root();
                by_type(root).or_else(by_text).unwrap_or(match root {
                    DataFusionError::Plan(_) | DataFusionError::SchemaError(..) | DataFusionError::Configuration(_) => {
                        ErrorKind::Statement
                    }
                    DataFusionError::Execution(_) | DataFusionError::ArrowError(..) => ErrorKind::Data,
                    _ => ErrorKind::Files,
                })
            }
        }
    }
}

/// The kind of an error whose type says it.
fn by_type(error: &DataFusionError) -> Option<ErrorKind> {
    Some(match error {
        DataFusionError::SQL(..) => ErrorKind::Syntax,
        DataFusionError::SchemaError(error, _) if matches!(**error, SchemaError::FieldNotFound { .. }) => {
            ErrorKind::UnknownColumn
        }
        DataFusionError::ResourcesExhausted(_) => ErrorKind::Memory,
        DataFusionError::NotImplemented(_) => ErrorKind::NotSupported,
        DataFusionError::Internal(_) => ErrorKind::Internal,
        DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => ErrorKind::Files,
        DataFusionError::ArrowError(error, _) => match error.as_ref() {
            ArrowError::DivideByZero => ErrorKind::DivisionByZero,
            ArrowError::ArithmeticOverflow(_) => ErrorKind::OutOfRange,
            ArrowError::CastError(_) | ArrowError::ParseError(_) => ErrorKind::Cast,
            _ => return None,
        },
        _ => return None,
    })
}

impl ErrorKind {
    /// The class of five letters that standard SQL and PostgreSQL have for it (SQLSTATE).
    pub fn sqlstate(self) -> &'static str {
        match self {
            Self::Syntax => "42601",
            Self::UnknownTable => "42P01",
            Self::UnknownSchema => "3F000",
            Self::UnknownColumn => "42703",
            Self::UnknownFunction => "42883",
            Self::UnknownSetting => "42704",
            Self::AlreadyExists => "42P07",
            Self::Statement => "42000",
            Self::DivisionByZero => "22012",
            Self::OutOfRange => "22003",
            Self::Cast => "22P02",
            Self::Data => "22000",
            Self::RepeatedKey => "23505",
            Self::MissingValue => "23502",
            Self::NotSupported => "0A000",
            Self::Forbidden => "42501",
            Self::ReadOnly => "25006",
            Self::TransactionOpen => "25001",
            Self::NoTransaction => "25P01",
            Self::Memory => "53200",
            Self::Files => "58030",
            Self::Timeout => "57014",
            Self::Internal => "XX000",
        }
    }
}
