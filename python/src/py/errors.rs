//! The exceptions of PEP 249, and which of them an error of the engine is.

use bonnetdb::{Error as EngineError, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;

create_exception!(bonnetdb, Warning, PyException, "Something to know that is no error.");
create_exception!(
    bonnetdb,
    FailedRunsWarning,
    PyUserWarning,
    "Runs of train or its like failed: their rows say why, and have no figures."
);
create_exception!(bonnetdb, Error, PyException, "Any error of the engine.");
create_exception!(bonnetdb, InterfaceError, Error, "The interface is used wrongly: a closed connection, say.");
create_exception!(bonnetdb, DatabaseError, Error, "An error of the database.");
create_exception!(
    bonnetdb,
    DataError,
    DatabaseError,
    "The data cannot be processed: a value out of range, a bad cast."
);
create_exception!(bonnetdb, OperationalError, DatabaseError, "Files, memory, time: not the program's doing.");
create_exception!(bonnetdb, IntegrityError, DatabaseError, "A key is repeated, or a NULL stands where there is none.");
create_exception!(bonnetdb, InternalError, DatabaseError, "A defect of the engine.");
create_exception!(
    bonnetdb,
    ProgrammingError,
    DatabaseError,
    "The statement is wrong: its syntax, its names, its parameters."
);
create_exception!(bonnetdb, NotSupportedError, DatabaseError, "The engine does not do this.");

/// Makes the exceptions names of the module.
pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Warning", py.get_type::<Warning>())?;
    module.add("FailedRunsWarning", py.get_type::<FailedRunsWarning>())?;
    module.add("Error", py.get_type::<Error>())?;
    module.add("InterfaceError", py.get_type::<InterfaceError>())?;
    module.add("DatabaseError", py.get_type::<DatabaseError>())?;
    module.add("DataError", py.get_type::<DataError>())?;
    module.add("OperationalError", py.get_type::<OperationalError>())?;
    module.add("IntegrityError", py.get_type::<IntegrityError>())?;
    module.add("InternalError", py.get_type::<InternalError>())?;
    module.add("ProgrammingError", py.get_type::<ProgrammingError>())?;
    module.add("NotSupportedError", py.get_type::<NotSupportedError>())
}

/// An error of the engine as the exception of its kind, with the engine's text.
pub(super) fn raise(error: EngineError) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Syntax
        | ErrorKind::UnknownTable
        | ErrorKind::UnknownSchema
        | ErrorKind::UnknownColumn
        | ErrorKind::UnknownFunction
        | ErrorKind::UnknownSetting
        | ErrorKind::AlreadyExists
        | ErrorKind::Statement
        | ErrorKind::Forbidden
        | ErrorKind::ReadOnly
        | ErrorKind::TransactionOpen
        | ErrorKind::NoTransaction => ProgrammingError::new_err(text),
        ErrorKind::DivisionByZero | ErrorKind::OutOfRange | ErrorKind::Cast | ErrorKind::Data => {
            DataError::new_err(text)
        }
        ErrorKind::RepeatedKey | ErrorKind::MissingValue => IntegrityError::new_err(text),
        ErrorKind::NotSupported => NotSupportedError::new_err(text),
        ErrorKind::Memory | ErrorKind::Files | ErrorKind::Timeout => OperationalError::new_err(text),
        ErrorKind::Internal => InternalError::new_err(text),
    }
}
