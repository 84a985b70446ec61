//! Files of SQLite, opened for reading.

mod columns;
mod condition;
mod scan;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use rusqlite::{Connection, OpenFlags};

use columns::Column;
use scan::SqliteTable;

/// The time for which a query waits for another program that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file of SQLite. Each scan opens it anew, and sees what is committed then.
#[derive(Debug)]
pub(super) struct Sqlite {
    path: PathBuf,
    /// Whether strings are stored in UTF-8, so that their order is ours.
    utf8: bool,
}

/// A name as an identifier of SQLite.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Sqlite {
    /// Opens a file; answers the names of its tables and views, too.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<String>)> {
        let mut source = Self { path: std::path::absolute(path)?, utf8: true };
        let read = |connection: &Connection| -> rusqlite::Result<(bool, Vec<String>)> {
            let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
            let mut names = connection.prepare(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' \
                 ESCAPE '\\' ORDER BY name",
            )?;
            let names = names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
            Ok((encoding == "UTF-8", names))
        };
        let (utf8, names) = source.connect().and_then(|connection| read(&connection).map_err(|e| source.failed(e)))?;
        source.utf8 = utf8;
        Ok((source, names))
    }

    /// A connection that writes nothing.
    fn connect(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(&self.path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            Ok(connection)
        };
        open().map_err(|error: rusqlite::Error| self.failed(error))
    }

    fn failed(&self, error: impl std::fmt::Display) -> DataFusionError {
        exec_datafusion_err!("'{}': {error}", self.path.display())
    }

    /// A table, its columns of the types that it declares: a value of SQLite has any type, whatever the column's.
    pub(super) fn table(self: &Arc<Self>, name: &str) -> Result<Arc<dyn TableProvider>> {
        let connection = self.connect()?;
        let read = || {
            let mut columns = connection.prepare("SELECT name, type FROM pragma_table_info(?)")?;
            let columns = columns.query_map([name], |row| Ok(Column::declared(row.get(0)?, row.get(1)?)))?;
            columns.collect::<rusqlite::Result<Vec<Column>>>()
        };
        let columns = read().map_err(|error| self.failed(error))?;
        Ok(Arc::new(SqliteTable::new(Arc::clone(self), name, columns)))
    }
}
