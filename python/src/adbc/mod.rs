//! The ADBC driver: what `AdbcDriverInit` of this library gives a driver manager, in any language.
//!
//! Options of a database: `path` (a lasting database's folder; none or `:memory:` for one in memory), or `uri` (the same, or
//! `bonnetdb:///the/folder`), `read_only` (`true`), `threads`, `memory_limit` (bytes, or a size such as `4GB` or `4GiB`).

mod connection;
mod info;
mod literals;
mod location;
mod objects;
mod reader;
mod statement;

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Database, Driver, Optionable};
use bonnetdb::{Engine, EngineOptions, ErrorKind};

pub use connection::BonnetConnection;
pub use statement::BonnetStatement;

/// The driver.
#[derive(Debug, Default)]
pub struct BonnetDriver;

impl Driver for BonnetDriver {
    type DatabaseType = BonnetDatabase;

    fn new_database(&mut self) -> Result<Self::DatabaseType> {
        self.new_database_with_opts([])
    }

    fn new_database_with_opts(
        &mut self,
        options: impl IntoIterator<Item = (OptionDatabase, OptionValue)>,
    ) -> Result<Self::DatabaseType> {
        let mut engine = EngineOptions::default();
        for (key, value) in options {
            set_option(&mut engine, &key, &value)?;
        }
        let path = engine.database.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        Ok(BonnetDatabase { engine: Engine::open(engine).map_err(failed)?, path })
    }
}

fn set_option(options: &mut EngineOptions, key: &OptionDatabase, value: &OptionValue) -> Result<()> {
    let text = text(key.as_ref(), value)?;
    match key.as_ref() {
        "uri" => options.database = location::folder(&text)?,
        "path" => options.database = location::folder_at(&text),
        "read_only" => options.read_only = boolean("read_only", &text)?,
        "threads" => options.threads = Some(number("threads", &text)?),
        "memory_limit" => options.memory_limit = Some(size("memory_limit", &text)?),
        other => return Err(unknown_option(other, "uri, path, read_only, threads, memory_limit")),
    }
    Ok(())
}

/// A database: an engine that its connections share.
pub struct BonnetDatabase {
    engine: Engine,
    path: String,
}

impl Optionable for BonnetDatabase {
    type Option = OptionDatabase;

    fn set_option(&mut self, key: Self::Option, _: OptionValue) -> Result<()> {
        let text = format!("the option {} is set before the database is opened", key.as_ref());
        Err(Error::with_message_and_status(text, Status::InvalidState))
    }

    fn get_option_string(&self, key: Self::Option) -> Result<String> {
        match key.as_ref() {
            "uri" | "path" => Ok(self.path.clone()),
            other => Err(no_option(other)),
        }
    }

    fn get_option_bytes(&self, key: Self::Option) -> Result<Vec<u8>> {
        Err(no_option(key.as_ref()))
    }

    fn get_option_int(&self, key: Self::Option) -> Result<i64> {
        Err(no_option(key.as_ref()))
    }

    fn get_option_double(&self, key: Self::Option) -> Result<f64> {
        Err(no_option(key.as_ref()))
    }
}

impl Database for BonnetDatabase {
    type ConnectionType = BonnetConnection;

    fn new_connection(&self) -> Result<Self::ConnectionType> {
        Ok(BonnetConnection::new(self.engine.session()))
    }

    fn new_connection_with_opts(
        &self,
        options: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<Self::ConnectionType> {
        let mut connection = self.new_connection()?;
        for (key, value) in options {
            connection.set_option(key, value)?;
        }
        Ok(connection)
    }
}

/// An error of the engine as ADBC has it.
pub(crate) fn failed(error: bonnetdb::Error) -> Error {
    let kind = error.kind();
    let status = match kind {
        ErrorKind::UnknownTable
        | ErrorKind::UnknownSchema
        | ErrorKind::UnknownColumn
        | ErrorKind::UnknownFunction
        | ErrorKind::UnknownSetting
        | ErrorKind::Syntax
        | ErrorKind::AlreadyExists
        | ErrorKind::Statement
        | ErrorKind::Forbidden
        | ErrorKind::ReadOnly => Status::InvalidArguments,
        ErrorKind::DivisionByZero | ErrorKind::OutOfRange | ErrorKind::Cast | ErrorKind::Data => Status::InvalidData,
        ErrorKind::RepeatedKey | ErrorKind::MissingValue => Status::Integrity,
        ErrorKind::NotSupported => Status::NotImplemented,
        ErrorKind::TransactionOpen | ErrorKind::NoTransaction => Status::InvalidState,
        ErrorKind::Memory | ErrorKind::Files => Status::IO,
        ErrorKind::Timeout => Status::Timeout,
        ErrorKind::Internal => Status::Internal,
    };
    let mut failed = Error::with_message_and_status(error.to_string(), status);
    for (letter, byte) in failed.sqlstate.iter_mut().zip(kind.sqlstate().bytes()) {
        *letter = byte as std::ffi::c_char;
    }
    failed
}

fn no_option(name: &str) -> Error {
    Error::with_message_and_status(format!("the option {name} has no such value"), Status::NotFound)
}

fn unknown_option(name: &str, known: &str) -> Error {
    Error::with_message_and_status(format!("there is no option {name}; there are: {known}"), Status::NotImplemented)
}

fn invalid(text: impl Into<String>) -> Error {
    Error::with_message_and_status(text, Status::InvalidArguments)
}

/// The value of an option as text.
fn text(name: &str, value: &OptionValue) -> Result<String> {
    match value {
        OptionValue::String(text) => Ok(text.clone()),
        OptionValue::Int(number) => Ok(number.to_string()),
        _ => Err(invalid(format!("the option {name} is a text"))),
    }
}

fn boolean(name: &str, text: &str) -> Result<bool> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(invalid(format!("the option {name} is true or false, not {other}"))),
    }
}

fn number(name: &str, text: &str) -> Result<usize> {
    text.parse().map_err(|_| invalid(format!("the option {name} is a number, not {text}")))
}

fn size(name: &str, text: &str) -> Result<usize> {
    bonnetdb::parse_size(text).map_err(|error| invalid(format!("the option {name}: {error}")))
}
