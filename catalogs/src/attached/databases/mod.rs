//! The tables of SQLite, and of PostgreSQL by the package `datafusion-table-providers`.

#[cfg(feature = "postgres")]
mod counted_table;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

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
    Sqlite(Arc<sqlite::Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Postgres),
    /// No database: none of the features is on, and none is ever made.
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
#[cfg(feature = "postgres")]
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
            Source::Sqlite(source) => source.table(name).map(Some),
            #[cfg(feature = "postgres")]
            Source::Postgres(source) => source.table(name).await.map(Some),
            #[cfg(not(any(feature = "sqlite", feature = "postgres")))]
            Source::None => Ok(None),
        }
    }

    /// The tables and views of a file of SQLite.
    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite(path: &Path) -> Result<Self> {
        let (source, names) = sqlite::Sqlite::open(path)?;
        Ok(Self { names, source: Source::Sqlite(Arc::new(source)) })
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
