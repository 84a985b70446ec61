//! Databases of PostgreSQL.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, exec_datafusion_err};
use datafusion_table_providers::postgres::PostgresTableFactory;
use datafusion_table_providers::sql::db_connection_pool::DbConnectionPool;
use datafusion_table_providers::sql::db_connection_pool::postgrespool::PostgresConnectionPool;
use datafusion_table_providers::util::secrets::to_secret_map;
use futures::TryStreamExt;
use percent_encoding::percent_decode_str;
use url::Url;

use super::counted_table::CountedTable;
use super::host;

/// A database of PostgreSQL.
pub(super) struct Postgres {
    factory: PostgresTableFactory,
}

/// The parts of a URL, as the client's package takes them: it takes no URL. An address that is none it reads itself.
fn options(location: &str) -> Result<HashMap<String, String>, String> {
    let Some(url) = location.contains("://").then(|| Url::parse(location)).transpose().map_err(|e| e.to_string())?
    else {
        return Ok(HashMap::from([("connection_string".to_owned(), location.to_owned())]));
    };
    let decoded = |text: &str| match percent_decode_str(text).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err("the address is not in UTF-8".to_owned()),
    };
    // The package puts them into a list of settings with blanks between.
    let quoted = |text: String| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let host = url.host_str().unwrap_or("localhost").trim_matches(['[', ']']).to_owned();
    let mut options = HashMap::from([("host".to_owned(), quoted(host))]);
    if !url.username().is_empty() {
        options.insert("user".to_owned(), quoted(decoded(url.username())?));
    }
    if let Some(password) = url.password() {
        options.insert("pass".to_owned(), decoded(password)?);
    }
    if let Some(port) = url.port() {
        options.insert("port".to_owned(), port.to_string());
    }
    let database = url.path().trim_start_matches('/');
    if !database.is_empty() {
        options.insert("db".to_owned(), quoted(decoded(database)?));
    }
    for (name, value) in url.query_pairs() {
        if !["sslmode", "sslrootcert"].contains(&&*name) {
            return Err(format!("{name} is no setting of an address; there are sslmode and sslrootcert"));
        }
        options.insert(name.into_owned(), value.into_owned());
    }
    Ok(options)
}

impl Postgres {
    pub(super) async fn open(location: &str) -> Result<(Self, Vec<String>)> {
        let host = host(location);
        let failed = |error: &dyn std::fmt::Display| exec_datafusion_err!("PostgreSQL at {host}: {error}");
        let options = options(location).map_err(|error| failed(&error))?;
        let pool = PostgresConnectionPool::new(to_secret_map(options)).await.map_err(|error| failed(&error))?;
        let pool = Arc::new(pool);
        let connection = pool.connect().await.map_err(|error| failed(&error))?;
        let connection = connection.as_async().ok_or_else(|| failed(&"no connection"))?;
        // The package lists no views.
        let query = "SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = 'public' \
                     ORDER BY table_name";
        let rows = connection.query_arrow(query, &[], None).await.map_err(|error| failed(&error))?;
        let batches: Vec<_> = rows.try_collect().await.map_err(|error| failed(&error))?;
        let mut names = Vec::new();
        for batch in batches.iter().filter(|batch| batch.num_columns() == 1) {
            let column = arrow::compute::cast(batch.column(0), &DataType::Utf8)?;
            names.extend(column.as_string::<i32>().iter().flatten().map(str::to_owned));
        }
        Ok((Self { factory: PostgresTableFactory::new(Arc::clone(&pool)) }, names))
    }

    pub(super) async fn table(&self, name: &str) -> Result<Arc<dyn TableProvider>> {
        let table = self.factory.table_provider(TableReference::partial("public", name)).await;
        let table = table.map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
        Ok(Arc::new(CountedTable(table)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let found = options("postgres://me%40here:p%3Aw@[::1]:5433/my%20base?sslmode=disable").unwrap();
        let expected = [
            ("host", "'::1'"),
            ("user", "'me@here'"),
            ("pass", "p:w"),
            ("port", "5433"),
            ("db", "'my base'"),
            ("sslmode", "disable"),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        let found = options("postgresql://host").unwrap();
        assert_eq!(found, HashMap::from([("host".to_owned(), "'host'".to_owned())]));
        assert!(options("postgres://host/base?depth=3").unwrap_err().contains("sslmode"));
        assert_eq!(options("host=a dbname=b").unwrap()["connection_string"], "host=a dbname=b");
    }
}
