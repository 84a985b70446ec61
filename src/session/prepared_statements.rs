//! The statements that a session has prepared.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::sql::parser::Statement as SqlStatement;

/// The statements that a session has prepared, as they were written: EXECUTE plans them anew, since their tables, views and
/// settings may be others by then.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements(Mutex<HashMap<String, SqlStatement>>);

impl PreparedStatements {
    pub(crate) fn get(&self, name: &str) -> Option<SqlStatement> {
        self.lock().get(name).cloned()
    }

    pub(crate) fn insert(&self, name: String, statement: SqlStatement) {
        self.lock().insert(name, statement);
    }

    pub(crate) fn remove(&self, name: &str) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, SqlStatement>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
