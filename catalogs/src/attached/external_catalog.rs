//! Tables of other programs as a catalog: Delta tables, Parquet, CSV, JSON and Arrow files, SQLite and PostgreSQL.
//! They are read, to be joined with results, not written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bonnet_common::{FileExtension, raise};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{Result, plan_datafusion_err, plan_err};
use datafusion::datasource::TableType;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::databases::Tables;
use crate::ground::error::external;
use crate::ground::file_path::is_address;
use crate::ground::new_table::{MAIN_SCHEMA, NewGraph};
use crate::lasting::LastingTable;
use crate::schemas::engine_catalog::EngineCatalog;
use crate::schemas::engine_schema::EngineSchema;
use crate::schemas::stored_view::StoredView;

/// The kinds of tables that a location holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalFormat {
    /// A Delta table, or a folder of them.
    Delta,
    /// A file, or a folder of files, of one format: by the format's name.
    Files(&'static str),
    /// A database file of SQLite.
    Sqlite,
    /// A database of PostgreSQL.
    Postgres,
}

/// The formats of files, with their extensions.
const FORMATS: [(&str, &[&str]); 4] = [
    ("parquet", &["parquet"]),
    ("csv", &["csv", "tsv", "csv.gz", "tsv.gz"]),
    ("json", &["json", "ndjson", "jsonl", "json.gz", "ndjson.gz", "jsonl.gz"]),
    ("arrow", &["arrow", "feather"]),
];

impl ExternalFormat {
    /// The type that ATTACH calls so.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "delta" => Some(Self::Delta),
            "sqlite" => Some(Self::Sqlite),
            "postgres" | "postgresql" => Some(Self::Postgres),
            name => FORMATS.iter().find(|(format, _)| *format == name).map(|(format, _)| Self::Files(format)),
        }
    }

    /// The type of what is at a path, where it shows without a name. A file of rows alone is no graph, so it is tables;
    /// a folder of files may be a graph and is left to the readers of graphs.
    pub fn recognise(path: &Path) -> Option<Self> {
        let text = path.to_string_lossy();
        if let Some(found) = Some(&text).filter(|text| is_address(text)).and_then(|text| Self::of_address(text)) {
            return Some(found);
        }
        if path.join("_delta_log").is_dir() {
            return Some(Self::Delta);
        }
        let mut start = [0; 16];
        let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
        if read.is_ok() && &start == b"SQLite format 3\0" {
            return Some(Self::Sqlite);
        }
        let text = path.to_string_lossy();
        (text.starts_with("postgres://") || text.starts_with("postgresql://")).then_some(Self::Postgres)
    }
}

impl ExternalFormat {
    /// The type of a data file at an address, by its ending.
    fn of_address(address: &str) -> Option<Self> {
        let extension = FileExtension::of(address.split('?').next()?)?;
        let has = |endings: &[&str]| endings.contains(&extension.format);
        FORMATS.iter().find(|(_, endings)| has(endings)).map(|(name, _)| Self::Files(name))
    }
}

/// The tables of a location, in the schema `main` of a catalog of their own.
#[derive(Debug)]
pub struct ExternalCatalog {
    schema: Arc<ExternalSchema>,
}

impl ExternalCatalog {
    /// Opens the tables of a location. Looks at names alone; a database is asked for its tables.
    ///
    /// # Errors
    /// If there are none, or the engine was built without the feature that reads them.
    pub fn open(kind: ExternalFormat, location: &str, path: &Path) -> Result<Self> {
        let is_address = is_address(location);
        if is_address && !matches!(kind, ExternalFormat::Files(_) | ExternalFormat::Postgres) {
            return plan_err!(
                "'{location}': of other machines data files are attached, TYPE parquet, csv, json or arrow; databases, Delta \
                 tables and graphs are read in place: download it, and ATTACH its path"
            );
        }
        if !is_address && !matches!(kind, ExternalFormat::Postgres) && !path.exists() {
            return Err(external(bonnet_datasets::missing(path)));
        }
        let tables = match kind {
            ExternalFormat::Delta => Contents::Delta(delta_tables(path)?),
            ExternalFormat::Files(_) if is_address => Contents::Files(file_of(location)?),
            ExternalFormat::Files(format) => Contents::Files(files(path, format)?),
            ExternalFormat::Sqlite => Contents::Database(Tables::sqlite(path)?),
            ExternalFormat::Postgres => Contents::Database(Tables::postgres(location)?),
        };
        // What stands behind a question mark may be a secret.
        let shown = if is_address { location.split('?').next().unwrap_or_default() } else { location };
        Ok(Self { schema: Arc::new(ExternalSchema { location: shown.to_owned(), tables }) })
    }

    /// The number of tables.
    pub fn len(&self) -> usize {
        self.schema.tables.names().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl EngineCatalog for ExternalCatalog {
    fn schema_names(&self) -> Vec<String> {
        vec![MAIN_SCHEMA.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn EngineSchema>> {
        (name == MAIN_SCHEMA).then(|| Arc::clone(&self.schema) as _)
    }

    fn register_schema(&self, name: &str, _: Arc<dyn EngineSchema>) -> Result<()> {
        plan_err!("'{}' is attached for reading: create {name} in another catalog", self.schema.location)
    }

    fn drop_schema(&self, name: &str, _: bool) -> Result<bool> {
        match name == MAIN_SCHEMA {
            true => plan_err!("'{}' is attached for reading: DETACH it instead", self.schema.location),
            false => Ok(false),
        }
    }

    fn create_graph<'a>(&'a self, name: &'a str, _: NewGraph, _: bool) -> BoxFuture<'a, Result<()>> {
        let refused = plan_err!("'{}' is attached for reading: create {name} in another catalog", self.schema.location);
        ready(refused).boxed()
    }
}

/// The schema of such a catalog.
#[derive(Debug)]
struct ExternalSchema {
    location: String,
    tables: Contents,
}

impl EngineSchema for ExternalSchema {
    fn why_not_drop(&self, name: &str) -> Option<String> {
        let reason = || format!("'{}' is attached for reading: {name} stays; DETACH it instead", self.location);
        self.table_exist(name).then(reason)
    }
}

enum Contents {
    Delta(BTreeMap<String, PathBuf>),
    Files(BTreeMap<String, PathBuf>),
    Database(Tables),
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contents").field(&self.names()).finish()
    }
}

impl Contents {
    fn names(&self) -> Vec<String> {
        match self {
            Self::Delta(tables) | Self::Files(tables) => tables.keys().cloned().collect(),
            Self::Database(tables) => tables.names().to_vec(),
        }
    }
}

#[async_trait]
impl SchemaProvider for ExternalSchema {
    fn table_names(&self) -> Vec<String> {
        self.tables.names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match &self.tables {
            Contents::Delta(tables) => match tables.get(name) {
                Some(path) => Ok(Some(Arc::new(LastingTable::at(path).await?))),
                None => Ok(None),
            },
            // A file is read as a query of the session reads it.
            Contents::Files(tables) => Ok(tables.get(name).map(|path| {
                let path = path.display().to_string().replace('\'', "''");
                let query = format!("SELECT * FROM '{path}'");
                let (name, schema) = (name.to_owned(), MAIN_SCHEMA.to_owned());
                Arc::new(StoredView { name, query, catalog: None, schema }) as _
            })),
            Contents::Database(tables) => tables.table(name).await,
        }
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(self.table_exist(name).then_some(TableType::Base))
    }

    fn register_table(&self, name: String, _: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        raise!(ReadOnly, "'{}' is attached for reading: create {name} in another catalog", self.location)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.why_not_drop(name) {
            Some(reason) => plan_err!("{reason}"),
            None => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        match &self.tables {
            Contents::Delta(tables) | Contents::Files(tables) => tables.contains_key(name),
            Contents::Database(tables) => tables.names().iter().any(|table| table == name),
        }
    }
}

fn delta_tables(path: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let path = std::path::absolute(path)?;
    let is_delta = |path: &Path| path.join("_delta_log").is_dir();
    let folders = if is_delta(&path) { vec![path.clone()] } else { inside(&path)? };
    named(&path, "Delta table", folders.into_iter().filter(|folder| is_delta(folder)))
}

/// The files of a format: the path itself, or what a folder holds; a folder of such files is one table.
fn files(path: &Path, format: &'static str) -> Result<BTreeMap<String, PathBuf>> {
    let path = std::path::absolute(path)?;
    let endings = FORMATS.iter().find(|(name, _)| *name == format).map_or(&[][..], |(_, endings)| endings);
    let is_one = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        path.is_file() && endings.iter().any(|ending| name.ends_with(&format!(".{ending}")))
    };
    if is_one(&path) {
        return named(&path, format, std::iter::once(path.clone()));
    }
    let mut found = Vec::new();
    for inner in inside(&path)? {
        if is_one(&inner) || (inner.is_dir() && inside(&inner)?.iter().any(|file| is_one(file))) {
            found.push(inner);
        }
    }
    named(&path, &format!("{format} file"), found.into_iter())
}

/// The file of an address, which is asked for when it is read.
fn file_of(location: &str) -> Result<BTreeMap<String, PathBuf>> {
    let path = if location.starts_with("http") { location.split('?').next().unwrap_or_default() } else { location };
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.split_once('.').map_or(name, |(stem, _)| stem) {
        "" => plan_err!("'{path}' names no file"),
        stem if stem.contains(['*', '?', '[']) => {
            plan_err!("'{path}' is a pattern: CREATE VIEW name AS SELECT * FROM '{path}' gives its files a name")
        }
        stem => Ok(BTreeMap::from([(bonnet_datasets::valid_name(stem), PathBuf::from(location))])),
    }
}

fn inside(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = std::fs::read_dir(folder).map_err(|error| plan_datafusion_err!("'{}': {error}", folder.display()))?;
    let mut found = Vec::new();
    for file in files {
        let path = file?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
        if !hidden {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Tables by the stems of their files' names.
fn named(folder: &Path, what: &str, paths: impl Iterator<Item = PathBuf>) -> Result<BTreeMap<String, PathBuf>> {
    let mut tables: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in paths {
        let stem = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = match stem.split_once('.') {
            Some((stem, _)) if !stem.is_empty() && path.is_file() => stem.to_owned(),
            _ => stem,
        };
        let name = bonnet_datasets::valid_name(&stem);
        if let Some(other) = tables.insert(name.clone(), path.clone()) {
            return plan_err!(
                "'{}' and '{}' would both be the table {name}: rename one, or attach them by themselves",
                other.display(),
                path.display()
            );
        }
    }
    if tables.is_empty() {
        return plan_err!("'{}' holds no {what}", folder.display());
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_files_is_a_table_each() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["runs.csv", "My Data.CSV", "notes.txt", ".hidden.csv"] {
            std::fs::write(folder.path().join(file), "a\n1\n").unwrap();
        }
        std::fs::create_dir(folder.path().join("parts")).unwrap();
        std::fs::write(folder.path().join("parts/p-0.csv"), "a\n1\n").unwrap();
        let names: Vec<_> = files(folder.path(), "csv").unwrap().into_keys().collect();
        assert_eq!(names, ["my_data", "parts", "runs"]);
        assert!(files(folder.path(), "parquet").unwrap_err().to_string().contains("holds no parquet file"));
        std::fs::write(folder.path().join("runs.tsv"), "a\n1\n").unwrap();
        assert!(files(folder.path(), "csv").unwrap_err().to_string().contains("both be the table runs"));
    }

    #[test]
    fn types_are_known_by_name_and_by_sight() {
        assert_eq!(ExternalFormat::of_name("parquet"), Some(ExternalFormat::Files("parquet")));
        assert_eq!(ExternalFormat::of_name("planetoid"), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        std::fs::write(&file, b"SQLite format 3\0 and more").unwrap();
        assert_eq!(ExternalFormat::recognise(&file), Some(ExternalFormat::Sqlite));
        std::fs::write(&file, b"short").unwrap();
        assert_eq!(ExternalFormat::recognise(&file), None);
        std::fs::create_dir(folder.path().join("_delta_log")).unwrap();
        assert_eq!(ExternalFormat::recognise(folder.path()), Some(ExternalFormat::Delta));
    }
}
