//! Connections: sessions of the engine.

use std::collections::HashSet;
use std::sync::Arc;

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{InfoCode, ObjectDepth, OptionConnection, OptionValue};
use adbc_core::schemas::{GET_STATISTIC_NAMES_SCHEMA, GET_TABLE_TYPES_SCHEMA};
use adbc_core::{CancelHandle, Connection, Optionable};
use arrow::array::{RecordBatchIterator, StringArray};
use arrow::datatypes::Schema;
use bonnetdb::{ErrorKind, Session};

use super::literals::identifier;
use super::objects::{Pattern, objects};
use super::reader::{BatchReader, Cancel, one_batch};
use super::{BonnetStatement, failed, info, invalid, no_option, text, unknown_option};

/// A connection: a session with its settings and current schema.
pub struct BonnetConnection {
    session: Session,
    cancel: Cancel,
}

impl BonnetConnection {
    pub(super) fn new(session: Session) -> Self {
        Self { session, cancel: Cancel::of_connection() }
    }

    /// The current catalog and schema.
    fn current(&self) -> (String, String) {
        let state = self.session.context().state();
        let options = &state.config_options().catalog;
        (options.default_catalog.clone(), options.default_schema.clone())
    }

    fn use_schema(&self, name: &str) -> Result<()> {
        self.cancel.wait(self.session.execute(&format!("USE {name}")))?.map_err(failed).map(|_| ())
    }
}

impl Optionable for BonnetConnection {
    type Option = OptionConnection;

    fn set_option(&mut self, key: Self::Option, value: OptionValue) -> Result<()> {
        let value = text(key.as_ref(), &value)?;
        match key {
            OptionConnection::AutoCommit if value == "true" => Ok(()),
            OptionConnection::AutoCommit => Err(Error::with_message_and_status(
                "every statement is a transaction of its own and is committed when it ends: there is nothing to turn off",
                Status::NotImplemented,
            )),
            OptionConnection::CurrentCatalog => self.use_schema(&format!("{}.main", identifier(&value))),
            OptionConnection::CurrentSchema => self.use_schema(&identifier(&value)),
            other => Err(unknown_option(other.as_ref(), "adbc.connection.catalog, adbc.connection.db_schema")),
        }
    }

    fn get_option_string(&self, key: Self::Option) -> Result<String> {
        match key {
            OptionConnection::AutoCommit => Ok("true".to_owned()),
            OptionConnection::CurrentCatalog => Ok(self.current().0),
            OptionConnection::CurrentSchema => Ok(self.current().1),
            other => Err(no_option(other.as_ref())),
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

impl Connection for BonnetConnection {
    type StatementType = BonnetStatement;

    fn new_statement(&mut self) -> Result<Self::StatementType> {
        Ok(BonnetStatement::new(self.session.clone(), self.cancel.of_statement()))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(self.cancel.clone())
    }

    fn get_info(&self, codes: Option<HashSet<InfoCode>>) -> Result<BatchReader> {
        info::info(codes.as_ref())
    }

    fn get_objects(
        &self,
        depth: ObjectDepth,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        table_type: Option<Vec<&str>>,
        column_name: Option<&str>,
    ) -> Result<BatchReader> {
        let pattern = Pattern { catalog, schema: db_schema, table: table_name, types: table_type, column: column_name };
        objects(&self.session, &self.cancel, depth, &pattern)
    }

    fn get_table_schema(&self, catalog: Option<&str>, db_schema: Option<&str>, table_name: &str) -> Result<Schema> {
        let name: Vec<String> = [catalog, db_schema, Some(table_name)].into_iter().flatten().map(identifier).collect();
        let query = format!("SELECT * FROM {}", name.join("."));
        let schema = self.cancel.wait(self.session.describe(&query))?.map_err(|error| {
            let unknown = matches!(error.kind(), ErrorKind::UnknownTable | ErrorKind::UnknownSchema);
            let error = failed(error);
            if unknown { Error { status: Status::NotFound, ..error } } else { error }
        })?;
        schema.map(|schema| schema.as_ref().clone()).ok_or_else(|| invalid(format!("{table_name} is no table")))
    }

    fn get_table_types(&self) -> Result<BatchReader> {
        one_batch(&GET_TABLE_TYPES_SCHEMA, vec![Arc::new(StringArray::from(vec!["BASE TABLE", "VIEW"]))])
    }

    fn get_statistic_names(&self) -> Result<BatchReader> {
        Ok(Box::new(RecordBatchIterator::new([], Arc::clone(&GET_STATISTIC_NAMES_SCHEMA))))
    }

    fn get_statistics(&self, _: Option<&str>, _: Option<&str>, _: Option<&str>, _: bool) -> Result<BatchReader> {
        Err(Error::with_message_and_status("statistics are not handed out: SUMMARIZE table", Status::NotImplemented))
    }

    fn commit(&mut self) -> Result<()> {
        Err(no_transaction())
    }

    fn rollback(&mut self) -> Result<()> {
        Err(no_transaction())
    }

    fn read_partition(&self, _: impl AsRef<[u8]>) -> Result<BatchReader> {
        Err(Error::with_message_and_status("results have no partitions", Status::NotImplemented))
    }
}

fn no_transaction() -> Error {
    Error::with_message_and_status(
        "there is no transaction: every statement is committed when it ends",
        Status::InvalidState,
    )
}
