//! What ATTACH makes of a location: a catalog beside the others, or a schema. And how a database finds again what was
//! attached to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bonnet_catalogs::{GraphCatalog, TablesCatalog, TablesType};
use bonnet_datasets::{Opened, Options};
use datafusion::catalog::CatalogProvider;

use crate::{Error, Result};

/// What stands at a location.
pub(crate) enum Target {
    /// A data set: a schema.
    Graph(Arc<dyn bonnet_datasets::Dataset>),
    /// A catalog, and what to say of it.
    Catalog(Arc<dyn CatalogProvider>, String),
}

/// Opens a location as ATTACH is told to. May wait for files.
///
/// # Errors
/// If there is nothing of this type.
pub(crate) fn open(location: &str, format: Option<&str>, read_only: bool, options: &Options) -> Result<Target> {
    let path = local(location);
    let format = format.map(str::to_lowercase);
    let kind = match format.as_deref() {
        Some("bonnet") => Some(Kind::Database),
        Some(name) => TablesType::of_name(name).map(Kind::Tables),
        None if is_database(&path) => Some(Kind::Database),
        None => TablesType::recognise(&path).map(Kind::Tables),
    };
    if kind.is_some()
        && let Some(option) = options.keys().next()
    {
        return Err(Error::statement(format!("'{location}': there is no option {option} for this type")));
    }
    match kind {
        Some(Kind::Database) => Ok(Target::Catalog(another_database(&path, read_only)?, String::new())),
        Some(Kind::Tables(kind)) => {
            let catalog = TablesCatalog::open(kind, location, &path)?;
            let count = catalog.len();
            let tables = if count == 1 { "1 table".to_owned() } else { format!("{count} tables") };
            Ok(Target::Catalog(Arc::new(catalog), format!(" ({tables})")))
        }
        None => {
            let opened = bonnet_datasets::open(location, format.as_deref(), options);
            match opened.map_err(|error| Error::statement(error.to_string()))? {
                Opened::Graph(dataset) => Ok(Target::Graph(dataset)),
                Opened::Collection(collection) => {
                    let (graphs, skipped) = (collection.graphs.len(), collection.skipped.len());
                    let catalog = match read_only {
                        true => GraphCatalog::read_only(collection),
                        false => GraphCatalog::new(collection),
                    };
                    let left_out =
                        if skipped == 0 { String::new() } else { format!(", {skipped} not recognised and left out") };
                    Ok(Target::Catalog(Arc::new(catalog), format!(" ({graphs} graphs{left_out})")))
                }
            }
        }
    }
}

enum Kind {
    Database,
    Tables(TablesType),
}

fn local(location: &str) -> PathBuf {
    let path = location.strip_prefix("file://").unwrap_or(location);
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The location as it is remembered: a path is made absolute, so that it means the same wherever the database is opened.
#[cfg(feature = "delta")]
pub(crate) fn remembered(location: &str) -> String {
    if location.contains("://") || location.starts_with("builtin:") {
        return location.to_owned();
    }
    std::path::absolute(local(location)).map_or_else(|_| location.to_owned(), |path| path.display().to_string())
}

#[cfg(feature = "delta")]
mod lasting {
    use std::sync::OnceLock;

    use bonnet_catalogs::delta::{Attachment, Database, LastingCatalog};
    use datafusion::catalog::SchemaProvider;
    use datafusion::common::{Result as DataFusionResult, plan_err};

    use super::*;

    pub(crate) fn is_database(path: &Path) -> bool {
        Database::is_at(path)
    }

    /// A database that exists.
    pub(super) fn another_database(path: &Path, read_only: bool) -> Result<Arc<dyn CatalogProvider>> {
        if !Database::is_at(path) {
            return Err(Error::statement(format!(
                "'{}' is no database: it has no bonnet.json; `bonnet {0}` makes one",
                path.display()
            )));
        }
        Ok(Arc::new(LastingCatalog::new(Database::open(path, read_only)?)))
    }

    /// The database in which sessions start, and the catalogs that are attached to it.
    pub(crate) fn database(
        name: &str,
        path: &Path,
        read_only: bool,
    ) -> Result<Vec<(String, Arc<dyn CatalogProvider>)>> {
        let home = LastingCatalog::new(Database::open(path, read_only)?);
        let mut catalogs: Vec<(String, Arc<dyn CatalogProvider>)> = Vec::new();
        for (name, attached) in home.attached_catalogs()? {
            let later = Later { name: name.clone(), attached, opened: OnceLock::new() };
            catalogs.push((name, Arc::new(later)));
        }
        catalogs.push((name.to_owned(), Arc::new(home)));
        Ok(catalogs)
    }

    /// An attached catalog that is opened when it is first asked for anything.
    #[derive(Debug)]
    struct Later {
        name: String,
        attached: Attachment,
        opened: OnceLock<Result<Arc<dyn CatalogProvider>, String>>,
    }

    impl Later {
        fn opened(&self) -> &Result<Arc<dyn CatalogProvider>, String> {
            self.opened.get_or_init(|| {
                let Attachment { location, format, read_only, options } = &self.attached;
                match open(location, format.as_deref(), *read_only, options) {
                    Ok(Target::Catalog(catalog, _)) => Ok(catalog),
                    Ok(Target::Graph(_)) => Err(format!(
                        "'{location}' was a folder of graphs when it was attached and is one graph now: DETACH it and \
                         attach it again"
                    )),
                    Err(error) => {
                        let name = &self.name;
                        Err(format!("{name} is attached but cannot be opened: {error}; DETACH {name} forgets it"))
                    }
                }
            })
        }
    }

    impl CatalogProvider for Later {
        fn schema_names(&self) -> Vec<String> {
            self.opened().as_ref().map(|catalog| catalog.schema_names()).unwrap_or_default()
        }

        fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
            match self.opened() {
                Ok(catalog) => catalog.schema(name),
                Err(why) => Some(Arc::new(Broken(why.clone()))),
            }
        }

        fn register_schema(
            &self,
            name: &str,
            schema: Arc<dyn SchemaProvider>,
        ) -> DataFusionResult<Option<Arc<dyn SchemaProvider>>> {
            match self.opened() {
                Ok(catalog) => catalog.register_schema(name, schema),
                Err(why) => plan_err!("{why}"),
            }
        }

        fn deregister_schema(&self, name: &str, cascade: bool) -> DataFusionResult<Option<Arc<dyn SchemaProvider>>> {
            match self.opened() {
                Ok(catalog) => catalog.deregister_schema(name, cascade),
                Err(why) => plan_err!("{why}"),
            }
        }
    }

    /// A schema of a catalog that cannot be opened: it says why.
    #[derive(Debug)]
    struct Broken(String);

    #[async_trait::async_trait]
    impl SchemaProvider for Broken {
        fn table_names(&self) -> Vec<String> {
            Vec::new()
        }

        async fn table(&self, _: &str) -> DataFusionResult<Option<Arc<dyn datafusion::catalog::TableProvider>>> {
            plan_err!("{}", self.0)
        }

        fn table_exist(&self, _: &str) -> bool {
            false
        }
    }
}

#[cfg(not(feature = "delta"))]
mod lasting {
    use super::*;

    fn missing<T>(path: &Path) -> Result<T> {
        Err(Error::statement(format!(
            "'{}': this engine was built without lasting databases; build it with the feature delta",
            path.display()
        )))
    }

    pub(crate) fn is_database(path: &Path) -> bool {
        path.join("bonnet.json").is_file()
    }

    pub(super) fn another_database(path: &Path, _: bool) -> Result<Arc<dyn CatalogProvider>> {
        missing(path)
    }

    pub(crate) fn database(_: &str, path: &Path, _: bool) -> Result<Vec<(String, Arc<dyn CatalogProvider>)>> {
        missing(path)
    }
}

use lasting::another_database;
pub(crate) use lasting::{database, is_database};
