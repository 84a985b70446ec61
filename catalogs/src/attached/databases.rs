//! The tables of SQLite and PostgreSQL, by the package `datafusion-table-providers`.

use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::{Result, plan_err};

/// The tables of a database of another program.
pub(crate) struct Tables {
    names: Vec<String>,
    source: Source,
}

enum Source {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlite::Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Postgres),
    /// None of the features is on, and none is ever made.
    #[cfg(not(any(feature = "sqlite", feature = "postgres")))]
    #[expect(dead_code)]
    None,
}

/// The part of an address that errors show: from its host on, as a password may stand before it.
fn host(location: &str) -> &str {
    location.rsplit('@').next().unwrap_or(location)
}

/// Waits for a future on a thread of the clients' own runtime: catalogs are asked for their names where nothing can be
/// awaited, and connections outlive the question.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn wait<T: Send>(future: impl Future<Output = Result<T>> + Send) -> Result<T> {
    static CLIENTS: std::sync::OnceLock<std::io::Result<tokio::runtime::Runtime>> = std::sync::OnceLock::new();
    let builder = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let clients = match CLIENTS.get_or_init(builder) {
        Ok(clients) => clients,
        Err(error) => return plan_err!("the client of the database cannot be started: {error}"),
    };
    std::thread::scope(|scope| match scope.spawn(|| clients.block_on(future)).join() {
        Ok(answer) => answer,
        Err(_) => plan_err!("the client of the database failed by a defect, please report it"),
    })
}

impl Tables {
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if !self.names.iter().any(|known| known == name) {
            return Ok(None);
        }
        match &self.source {
            #[cfg(feature = "sqlite")]
            Source::Sqlite(source) => source.table(name).await.map(Some),
            #[cfg(feature = "postgres")]
            Source::Postgres(source) => source.table(name).await.map(Some),
            #[cfg(not(any(feature = "sqlite", feature = "postgres")))]
            Source::None => Ok(None),
        }
    }

    /// The tables and views of a file of SQLite.
    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite(path: &Path) -> Result<Self> {
        let (source, names) = wait(sqlite::Sqlite::open(path))?;
        Ok(Self { names, source: Source::Sqlite(source) })
    }

    #[cfg(not(feature = "sqlite"))]
    pub(crate) fn sqlite(path: &Path) -> Result<Self> {
        plan_err!("'{}': this engine was built without SQLite; build it with the feature sqlite", path.display())
    }

    /// The tables and views of a database of PostgreSQL, by its address.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(location: &str) -> Result<Self> {
        let (source, names) = wait(postgres::Postgres::open(location))?;
        Ok(Self { names, source: Source::Postgres(source) })
    }

    #[cfg(not(feature = "postgres"))]
    pub(crate) fn postgres(location: &str) -> Result<Self> {
        let host = host(location);
        plan_err!("{host}: this engine was built without PostgreSQL; build it with the feature postgres")
    }
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod counted_table {
    use std::sync::Arc;

    use arrow::datatypes::SchemaRef;
    use datafusion::catalog::{Session, TableProvider};
    use datafusion::common::Result;
    use datafusion::common::tree_node::TreeNode;
    use datafusion::datasource::TableType;
    use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
    use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
    use futures::FutureExt;

    use crate::ground::table_methods::{Planned, table_methods};

    /// The functions that plans call in filters.
    const INTERNAL: [&str; 12] = [
        "opaque",
        "nullable",
        "between",
        "not_between",
        "interval_length",
        "interval_of_duration",
        "interval_product",
        "interval_quotient",
        "round_ties_even",
        "rounded_parts",
        "text_of_integer",
        "text_of_timestamp",
    ];

    /// A table that also answers how many rows it has: the package's own scan of no columns gives one.
    #[derive(Debug)]
    pub(super) struct CountedTable(pub(super) Arc<dyn TableProvider>);

    impl TableProvider for CountedTable {
        fn schema(&self) -> SchemaRef {
            self.0.schema()
        }

        fn table_type(&self) -> TableType {
            self.0.table_type()
        }

        fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
            let mut supported = self.0.supports_filters_pushdown(filters)?;
            for (filter, supported) in filters.iter().zip(&mut supported) {
                if calls_internal(filter) {
                    *supported = TableProviderFilterPushDown::Unsupported;
                }
            }
            Ok(supported)
        }

        table_methods! {
            scan by plan_scan;
        }
    }

    /// Whether a filter calls a function of plans, which no other database knows.
    fn calls_internal(filter: &Expr) -> bool {
        let internal = |expr: &Expr| matches!(expr, Expr::ScalarFunction(call) if INTERNAL.contains(&call.name()));
        filter.exists(|expr| Ok(internal(expr))).unwrap_or(true)
    }

    impl CountedTable {
        fn plan_scan<'a>(
            &'a self,
            session: &'a dyn Session,
            projection: Option<&'a Vec<usize>>,
            filters: &'a [Expr],
            limit: Option<usize>,
        ) -> Planned<'a> {
            async move {
                if projection.is_some_and(Vec::is_empty) {
                    let first = self.0.scan(session, Some(&vec![0]), filters, limit).await?;
                    let none: Vec<ProjectionExpr> = Vec::new();
                    return Ok(Arc::new(ProjectionExec::try_new(none, first)?) as _);
                }
                self.0.scan(session, projection, filters, limit).await
            }
            .boxed()
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
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
            // As an address, so that nothing is written; in an address these signs have a meaning.
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

        /// The answer of a query of two columns of text.
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
}

#[cfg(feature = "postgres")]
mod postgres {
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
        let Some(url) =
            location.contains("://").then(|| Url::parse(location)).transpose().map_err(|e| e.to_string())?
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
}
