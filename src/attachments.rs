//! Opens what ATTACH names: a catalog beside the others, or a schema; and, with a database, what is attached to it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bonnet_catalogs::{Attachment, Database, LastingCatalog};
use bonnet_catalogs::{
    EngineCatalog, EngineCatalogs, EngineSchema, ExternalCatalog, ExternalFormat, FaultySchema, MAIN_SCHEMA,
    MEMORY_CATALOG, MemoryCatalog, NewGraph, SYSTEM_SCHEMA, SystemSchema,
};
use bonnet_datasets::Opened;
use bonnet_sql::{GraphCache, Registry};
use datafusion::common::Result as DataFusionResult;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::system::EngineRows;
use crate::{Error, ErrorKind, Raised, Result};

/// The data at a location.
pub(crate) enum Target {
    /// A data set: a schema.
    Graph(Arc<dyn bonnet_datasets::Dataset>),
    /// A catalog, and what to say of it.
    Catalog(Arc<dyn EngineCatalog>, String),
}

/// Opens what is attached; a database for reading alone where the engine changes none (`read_only`). May wait for files.
///
/// # Errors
/// If there is nothing of this type.
pub(crate) fn open(attached: &Attachment, read_only: bool) -> Result<Target> {
    let Attachment { location, format, options, .. } = attached;
    let path = local(location);
    if path.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        return Err(Error::statement(format!(
            "'{location}' is a pipe, a socket or a device: ATTACH takes a file or a folder; copy it into a file first"
        )));
    }
    let format = format.as_deref().map(str::to_lowercase);
    let kind = match format.as_deref() {
        Some("bonnet") => Some(AttachmentKind::Database),
        Some(name) => ExternalFormat::of_name(name).map(AttachmentKind::External),
        None if Database::is_at(&path) => Some(AttachmentKind::Database),
        None => ExternalFormat::recognise(&path).map(AttachmentKind::External),
    };
    if kind.is_some()
        && let Some(option) = options.keys().next()
    {
        return Err(Error::statement(format!("'{location}': there is no option {option} for this type")));
    }
    match kind {
        Some(AttachmentKind::Database) => {
            Ok(Target::Catalog(existing_database(&path, read_only || attached.read_only)?, String::new()))
        }
        Some(AttachmentKind::External(kind)) => {
            let catalog = ExternalCatalog::open(kind, location, &path)?;
            let count = catalog.len();
            let tables = if count == 1 { "1 table".to_owned() } else { format!("{count} tables") };
            Ok(Target::Catalog(Arc::new(catalog), format!(" ({tables})")))
        }
        None => {
            let opened = bonnet_datasets::open(location, format.as_deref(), options);
            match opened.map_err(|error| Raised::new(reader_error_kind(&error), error.to_string()))? {
                Opened::Graph(dataset) => Ok(Target::Graph(dataset)),
                Opened::Collection(collection) => {
                    let (graphs, skipped) = (collection.graphs.len(), collection.skipped.len());
                    let catalog = MemoryCatalog::of_graphs(collection, attached.read_only);
                    let left_out =
                        if skipped == 0 { String::new() } else { format!(", {skipped} not recognised and left out") };
                    Ok(Target::Catalog(Arc::new(catalog), format!(" ({graphs} graphs{left_out})")))
                }
            }
        }
    }
}

enum AttachmentKind {
    Database,
    External(ExternalFormat),
}

fn local(location: &str) -> PathBuf {
    let path = location.strip_prefix("file://").unwrap_or(location);
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// A location with an absolute path, which means the same wherever the database that stores it is opened.
pub(crate) fn absolute(location: &str) -> String {
    if location.contains("://") || location.starts_with("builtin:") {
        return location.to_owned();
    }
    std::path::absolute(local(location)).map_or_else(|_| location.to_owned(), |path| path.display().to_string())
}

/// A database that exists.
fn existing_database(path: &Path, read_only: bool) -> Result<Arc<dyn EngineCatalog>> {
    if !Database::is_at(path) {
        return Err(Error::statement(format!(
            "'{}' is no database: it has no bonnet.json; `bonnet {0}` makes one",
            path.display()
        )));
    }
    Ok(Arc::new(LastingCatalog::new(Database::open(path, read_only)?)))
}

/// The catalogs of a new engine: one in memory, and the database if there is one, with what is attached to it.
pub(crate) fn catalogs(
    registry: &Arc<Registry>,
    graph_cache: &Arc<GraphCache>,
    database: Option<&Path>,
    read_only: bool,
) -> Result<Arc<EngineCatalogs>> {
    let rows = EngineRows::new(Arc::clone(registry), Arc::clone(graph_cache));
    let system = Arc::new(SystemSchema::new(Arc::new(rows)));
    let start = database.map_or_else(|| MEMORY_CATALOG.to_owned(), database_name);
    let catalogs = EngineCatalogs::new(&start, system);
    catalogs.insert(MEMORY_CATALOG, Arc::new(MemoryCatalog::default()));
    if let Some(path) = database {
        let database = Database::open(path, read_only)?;
        for (name, attached) in database.attached_catalogs()? {
            let (attached, opened) = match attached {
                Ok(attached) => (attached, OnceLock::new()),
                Err(why) => (Attachment::default(), OnceLock::from(Err(Raised::new(ErrorKind::Files, why)))),
            };
            catalogs.insert(&name, Arc::new(AttachedCatalog { name: name.clone(), attached, read_only, opened }));
        }
        catalogs.insert(&start, Arc::new(LastingCatalog::new(database)));
    }
    Ok(Arc::new(catalogs))
}

/// The name of a database's catalog: its file's stem as an identifier.
fn database_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = bonnet_datasets::valid_name(&stem);
    // Names that mean something else already.
    match name.as_str() {
        MEMORY_CATALOG | MAIN_SCHEMA | SYSTEM_SCHEMA | "information_schema" | "_" => format!("{name}_db"),
        _ => name,
    }
}

/// The kind of an error of a reader.
fn reader_error_kind(error: &bonnet_datasets::Error) -> ErrorKind {
    use bonnet_datasets::Error;
    match error {
        Error::UnknownFormat { .. } | Error::Option(_) => ErrorKind::Statement,
        Error::UnknownTable { .. } => ErrorKind::UnknownTable,
        Error::Columns(_) => ErrorKind::Internal,
        Error::Missing { .. }
        | Error::NotRecognised { .. }
        | Error::Malformed { .. }
        | Error::Io { .. }
        | Error::Cancelled => ErrorKind::Files,
    }
}

/// A catalog that a database remembers as attached, opened when it is first used.
#[derive(Debug)]
struct AttachedCatalog {
    name: String,
    attached: Attachment,
    read_only: bool,
    opened: OnceLock<Result<Arc<dyn EngineCatalog>, Raised>>,
}

impl AttachedCatalog {
    fn opened(&self) -> &Result<Arc<dyn EngineCatalog>, Raised> {
        self.opened.get_or_init(|| match open(&self.attached, self.read_only) {
            Ok(Target::Catalog(catalog, _)) => Ok(catalog),
            Ok(Target::Graph(_)) => {
                let text = "was a folder of graphs when it was attached and is one graph now";
                let error = Raised::new(ErrorKind::Files, format!("'{}' {text}", self.attached.location));
                Err(error.advise("DETACH it and attach it again"))
            }
            Err(error) => {
                let name = &self.name;
                let text = format!("{name} is attached but cannot be opened: {error}; DETACH {name} forgets it");
                Err(Raised::new(error.kind(), text))
            }
        })
    }

    fn get(&self) -> DataFusionResult<&Arc<dyn EngineCatalog>> {
        self.opened().as_ref().map_err(|why| why.clone().into())
    }
}

impl EngineCatalog for AttachedCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.get().map(|catalog| catalog.schema_names()).unwrap_or_default()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn EngineSchema>> {
        match self.opened() {
            Ok(catalog) => catalog.schema(name),
            Err(why) => Some(Arc::new(FaultySchema(why.to_string()))),
        }
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn EngineSchema>) -> DataFusionResult<()> {
        self.get()?.register_schema(name, schema)
    }

    fn drop_schema(&self, name: &str, cascade: bool) -> DataFusionResult<bool> {
        self.get()?.drop_schema(name, cascade)
    }

    fn create_graph<'a>(
        &'a self,
        name: &'a str,
        graph: NewGraph,
        replace: bool,
    ) -> BoxFuture<'a, DataFusionResult<()>> {
        match self.get() {
            Ok(catalog) => catalog.create_graph(name, graph, replace),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    fn inner(&self) -> Option<&Arc<dyn EngineCatalog>> {
        self.get().ok()
    }
}
