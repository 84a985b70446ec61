//! Files of SQLite.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, TableReference, exec_datafusion_err};
use datafusion_table_providers::sql::db_connection_pool::sqlitepool::SqliteConnectionPool;
use datafusion_table_providers::sql::db_connection_pool::{JoinPushDown, Mode};
use datafusion_table_providers::sqlite::DynSqliteConnectionPool;
use datafusion_table_providers::sqlite::sql_table::SQLiteTable;
use futures::TryStreamExt;

use super::counted_table::CountedTable;

/// The time for which a query waits for another program that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file of SQLite, opened for reading.
pub(super) struct Sqlite {
    pool: Arc<DynSqliteConnectionPool>,
    location: String,
}

impl Sqlite {
    pub(super) async fn open(path: &Path) -> Result<(Self, Vec<String>)> {
        let path = std::path::absolute(path)?;
        let location = path.display().to_string();
        // As an address, so that nothing is written; in an address these characters have a meaning.
        let address = location.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let address = format!("file:{address}?mode=ro");
        // Set up by ourselves: the package's own setup turns the file's journal into another mode.
        let join = JoinPushDown::AllowedFor(location.clone());
        let pool = SqliteConnectionPool::new(&address, Mode::File, join, Vec::new(), PATIENCE).await;
        let pool = pool.map_err(|error| exec_datafusion_err!("'{location}': {error}"))?;
        let source = Self { pool: Arc::new(pool), location };
        let names = source.texts(
            "SELECT name, '' FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' \
             ESCAPE '\\' ORDER BY name",
        );
        let names = names.await?.into_iter().map(|(name, _)| name).collect();
        Ok((source, names))
    }

    fn failed(&self, error: impl std::fmt::Display) -> DataFusionError {
        exec_datafusion_err!("'{}': {error}", self.location)
    }

    /// The answer of a query of two columns of strings.
    async fn texts(&self, query: &str) -> Result<Vec<(String, String)>> {
        let connection = self.pool.connect().await.map_err(|error| self.failed(error))?;
        let connection = connection.as_async().ok_or_else(|| self.failed("no connection"))?;
        let two = Arc::new(Schema::new(vec![
            Field::new("name", DataType::Utf8, true),
            Field::new("type", DataType::Utf8, true),
        ]));
        let rows = connection.query_arrow(query, &[], Some(two)).await.map_err(|error| self.failed(error))?;
        let batches: Vec<_> = rows.try_collect().await.map_err(|error| self.failed(error))?;
        let mut texts = Vec::new();
        for batch in &batches {
            let column = |i: usize| arrow::compute::cast(batch.column(i), &DataType::Utf8);
            let (names, types) = (column(0)?, column(1)?);
            let (names, types) = (names.as_string::<i32>(), types.as_string::<i32>());
            texts.extend(
                names
                    .iter()
                    .zip(types)
                    .map(|(name, kind)| (name.unwrap_or_default().to_owned(), kind.unwrap_or_default().to_owned())),
            );
        }
        Ok(texts)
    }

    /// A table, its columns of the types that it declares: a value of SQLite has any type, whatever the column's.
    pub(super) async fn table(&self, name: &str) -> Result<Arc<dyn TableProvider>> {
        let literal = name.replace('\'', "''");
        let columns = self.texts(&format!("SELECT name, type FROM pragma_table_info('{literal}')")).await?;
        let fields = columns.into_iter().map(|(name, declared)| Field::new(name, affinity(&declared), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let table = SQLiteTable::new_with_schema(&self.pool, schema, TableReference::bare(name));
        Ok(Arc::new(CountedTable(Arc::new(table))))
    }
}

/// The type of a column by what it is declared as (SQLite's rules of affinity, section 3.1 of "Datatypes In SQLite").
fn affinity(declared: &str) -> DataType {
    let declared = declared.to_ascii_uppercase();
    let has = |part: &str| declared.contains(part);
    if has("INT") {
        DataType::Int64
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        DataType::Utf8
    } else if has("BLOB") {
        DataType::Binary
    } else if has("REAL") || has("FLOA") || has("DOUB") || has("NUMERIC") || has("DECIMAL") {
        DataType::Float64
    } else if has("BOOL") {
        DataType::Boolean
    } else {
        DataType::Utf8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_give_columns_their_types() {
        for (declared, expected) in [
            ("INTEGER", DataType::Int64),
            ("bigint unsigned", DataType::Int64),
            ("VARCHAR(10)", DataType::Utf8),
            ("DOUBLE PRECISION", DataType::Float64),
            ("DECIMAL(10,2)", DataType::Float64),
            ("BLOB", DataType::Binary),
            ("BOOLEAN", DataType::Boolean),
            ("DATETIME", DataType::Utf8),
            ("", DataType::Utf8),
        ] {
            assert_eq!(affinity(declared), expected, "{declared}");
        }
    }
}
