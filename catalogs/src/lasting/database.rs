//! A lasting database: a folder of Delta tables and a catalog of small files.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use bonnet_common::raise;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, exec_err, plan_err};
use deltalake::DeltaTable;
use deltalake::kernel::Action;
use serde::{Deserialize, Serialize};

use super::damage;
use super::entry::{self, Attachment, Entry};
use super::fast::data_file::Written;
use super::fast::log::{self, Since};
use super::fast::plain::PlainFiles;
use super::layout::{self, HEADER};
use super::store::Operation;
use super::{names, store};
use crate::ground::graph_facts::GraphFacts;
use crate::ground::new_table::MAIN_SCHEMA;

/// The version of the layout on disk.
const FORMAT: u32 = 1;
#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    engine: String,
}

/// A schema of the catalog.
pub(crate) struct SchemaEntry {
    /// The path of the folder with the entries of its tables.
    pub(crate) folder: PathBuf,
    pub(crate) graph: Option<GraphFacts>,
    pub(crate) attached: Option<Attachment>,
}

/// A database in a folder. Any number of processes may work on it at the same time: what is committed in one is seen by
/// the next statement of the others.
#[derive(Debug)]
pub struct Database {
    root: PathBuf,
    /// Why nothing can be changed, if nothing can.
    read_only: Option<String>,
    /// Snapshots of tables, by their folders, so that only later commits have to be read.
    snapshots: Mutex<HashMap<String, TableSnapshot>>,
    /// Tables that a program registered: they last as long as it.
    registered: RwLock<BTreeMap<(String, String), Arc<dyn TableProvider>>>,
}

/// A table at a version. Its columns and properties are those of `table`, which may know the files of an earlier version:
/// they are read when they are needed.
#[derive(Debug, Clone)]
pub(super) struct TableSnapshot {
    pub(super) table: DeltaTable,
    pub(super) version: u64,
    /// The files of `table`, once it has been scanned.
    pub(super) plain: Arc<OnceLock<Option<PlainFiles>>>,
}

impl TableSnapshot {
    /// A table with the files of its version.
    pub(super) fn new(table: DeltaTable) -> Self {
        let version = table.version().unwrap_or_default();
        Self { table, version, plain: Arc::default() }
    }

    /// Whether the files of the version are known.
    pub(super) fn has_files(&self) -> bool {
        self.table.version() == Some(self.version)
    }
}

impl Database {
    /// Whether there is a database in this folder.
    pub fn is_at(path: &Path) -> bool {
        layout::is_database(path)
    }

    /// Opens the database in this folder, made if there is none, `read_only` or where it cannot be written for reading
    /// alone. The folder above it has to be there. Reads no table.
    ///
    /// # Errors
    /// If the path is something else, or cannot be read or made.
    pub fn open(path: &Path, read_only: bool) -> Result<Arc<Self>> {
        let root = std::path::absolute(path)?;
        let shown = root.display();
        if root.to_str().is_none_or(|path| path.contains('%')) {
            return plan_err!("'{shown}': the path of a Delta table has to be UTF-8 without a %; move the database");
        }
        if !Self::is_at(&root) {
            if read_only {
                return plan_err!("'{shown}' is no database: it has no {HEADER}");
            }
            make(&root)?;
        }
        let text = std::fs::read(root.join(HEADER)).map_err(|error| entry::at(&root, &error))?;
        let header: Header = serde_json::from_slice(&text)
            .map_err(|error| {
                let what = if text.is_empty() { "it is empty".to_owned() } else { error.to_string() };
                let text = format!(
                    "'{shown}/{HEADER}' is damaged: {what}; restore it from a copy of the database, or take that of another one \
                     which the same version of the engine has made"
                );
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?;
        if header.format > FORMAT {
            return plan_err!(
                "the database '{shown}' was written by a later version ({}): open it with that version",
                header.engine
            );
        }
        let read_only = match read_only {
            true => Some("it was opened for reading alone".to_owned()),
            false => {
                let lock = root.join("lock");
                let opened = File::options().create(true).append(true).open(&lock);
                opened.err().map(|error| format!("'{}': {error}", lock.display()))
            }
        };
        let (snapshots, registered) = Default::default();
        Ok(Arc::new(Self { root, read_only, snapshots, registered }))
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether nothing can be changed.
    pub fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Refuses a change where nothing can be changed.
    pub(super) fn writable(&self) -> Result<()> {
        match &self.read_only {
            None => Ok(()),
            Some(why) => raise!(ReadOnly, "the database '{}' cannot be changed: {why}", self.root.display()),
        }
    }

    /// Locks the catalog for a change. Other processes wait meanwhile.
    pub(super) fn lock(&self) -> Result<Lock> {
        self.writable()?;
        let path = self.root.join("lock");
        let lock = || {
            let file = File::options().create(true).append(true).open(&path)?;
            file.lock()?;
            Ok(Lock { _file: file })
        };
        Ok(lock().map_err(|error: io::Error| entry::at(&path, &error))?)
    }

    pub(super) fn catalog(&self) -> PathBuf {
        layout::catalog(&self.root)
    }

    pub(super) fn schema_path(&self, schema: &str) -> PathBuf {
        layout::entry(&self.catalog(), schema)
    }

    /// The file of an attached catalog's entry.
    pub(super) fn attached_path(&self, name: &str) -> PathBuf {
        layout::entry(&layout::attached(&self.root), name)
    }

    pub(super) fn table_path(&self, folder: &str) -> PathBuf {
        layout::tables(&self.root).join(folder)
    }

    /// A new folder for the entries of a schema, which lasts before an entry names it.
    pub(super) fn schema_folder(&self, schema: &str) -> Result<String> {
        let folder = format!("{}-{}", names::plain(schema), names::unique());
        let path = self.catalog().join(&folder);
        let made = make_schema_folder(&path).and_then(|()| entry::sync_folder(&self.catalog()));
        made.map_err(|error| entry::at(&path, &error))?;
        Ok(folder)
    }

    /// The table in this folder as it is now; reads what was committed since the last snapshot, but no list of files.
    pub(super) async fn snapshot(&self, folder: &str, name: &str) -> Result<TableSnapshot> {
        let before = lock(&self.snapshots).get(folder).cloned();
        let path = self.table_path(folder);
        // A folder that was removed is missed only by looking at it.
        let Some(mut snapshot) = before.filter(|_| path.join("_delta_log").is_dir()) else {
            let table = store::open(&path, name).await?;
            return Ok(self.remember(folder, table));
        };
        match log::since(&path, snapshot.version).map_err(|error| store::with_name(&path, name, error.into()))? {
            Since::Rows(version) => {
                snapshot.version = version;
                let mut known = lock(&self.snapshots);
                if let Some(known) = known.get_mut(folder) {
                    known.version = known.version.max(version);
                }
                Ok(snapshot)
            }
            Since::More => {
                store::check(&path, name, u64::MAX).await?;
                match snapshot.table.update_state().await {
                    Ok(()) => Ok(self.remember(folder, snapshot.table)),
                    Err(error) => Err(store::unread(&path, name, error).await),
                }
            }
        }
    }

    /// The table in this folder as it is now, with its files.
    pub(super) async fn table(&self, folder: &str, name: &str) -> Result<DeltaTable> {
        let snapshot = self.snapshot(folder, name).await?;
        Ok(self.with_files(folder, name, snapshot).await?.table)
    }

    /// The table at the version of a snapshot, with its files.
    pub(super) async fn with_files(
        &self,
        folder: &str,
        name: &str,
        mut snapshot: TableSnapshot,
    ) -> Result<TableSnapshot> {
        if snapshot.has_files() {
            return Ok(snapshot);
        }
        // Another statement may have read more files meanwhile.
        let known = lock(&self.snapshots).get(folder).cloned();
        if let Some(known) = known
            && known.table.version() <= Some(snapshot.version)
            && known.table.version() > snapshot.table.version()
        {
            snapshot = TableSnapshot { version: snapshot.version, ..known };
        }
        if snapshot.has_files() {
            return Ok(snapshot);
        }
        match snapshot.table.update_incremental(Some(snapshot.version)).await {
            Ok(()) => Ok(self.remember(folder, snapshot.table)),
            Err(error) => Err(store::unread(&self.table_path(folder), name, error).await),
        }
    }

    /// Caches the snapshot of a table, unless a later one is cached.
    fn remember(&self, folder: &str, table: DeltaTable) -> TableSnapshot {
        let snapshot = TableSnapshot::new(table);
        let mut known = lock(&self.snapshots);
        let cached = known.entry(folder.to_owned()).or_insert_with(|| snapshot.clone());
        if cached.table.version() < snapshot.table.version() {
            *cached = TableSnapshot { version: cached.version.max(snapshot.version), ..snapshot.clone() };
        }
        snapshot
    }

    /// Commits rows to the table in this folder; the version that has them.
    pub(super) async fn append(
        &self,
        folder: &str,
        name: &str,
        planned: Option<&DeltaTable>,
        written: Vec<Written>,
    ) -> Result<u64> {
        let snapshot = self.snapshot(folder, name).await?;
        let columns = |table: &DeltaTable| table.snapshot().map(|state| state.schema()).ok();
        if let Some(planned) = planned
            && columns(planned) != columns(&snapshot.table)
        {
            return exec_err!(
                "another statement changed the columns of {name} while this one ran; nothing of this one was kept: run it again"
            );
        }
        let path = self.table_path(folder);
        if !store::appends_alone(&snapshot.table, name)? {
            let table = self.with_files(folder, name, snapshot).await?.table;
            let added = store::synced(&path, written).await?.into_iter().map(Action::Add).collect();
            return store::commit(&table, name, added, Operation::Append).await;
        }
        let version = store::append(&path, name, snapshot.version, written).await?;
        if let Some(known) = lock(&self.snapshots).get_mut(folder) {
            known.version = known.version.max(version);
        }
        if store::wants_checkpoint(&snapshot.table, version) {
            // The rows are committed: a checkpoint that cannot be written only makes reading slower.
            let _ = store::checkpoint(&path, version).await;
        }
        Ok(version)
    }

    /// Forgets the snapshot of a table that is gone.
    pub(super) fn forget(&self, folder: &str) {
        lock(&self.snapshots).remove(folder);
    }

    /// Remembers an attached graph as the schema `name`.
    ///
    /// # Errors
    /// If the name is taken, or the database cannot be changed.
    pub fn attach_schema(&self, name: &str, attached: Attachment) -> Result<()> {
        let _lock = self.lock()?;
        let path = self.schema_path(name);
        if entry::read(&path)?.is_some() {
            return raise!(AlreadyExists, "the schema {name} exists already");
        }
        let folder = self.schema_folder(name)?;
        Ok(entry::write(&path, &Entry::Schema { folder, graph: None, attached: Some(attached) })?)
    }

    /// Remembers an attached catalog.
    ///
    /// # Errors
    /// If the database cannot be changed.
    pub fn attach_catalog(&self, name: &str, attached: Attachment) -> Result<()> {
        let _lock = self.lock()?;
        Ok(entry::write(&self.attached_path(name), &Entry::Catalog { attached })?)
    }

    /// Forgets an attached catalog; whether it was remembered.
    ///
    /// # Errors
    /// If the database cannot be changed.
    pub fn detach_catalog(&self, name: &str) -> Result<bool> {
        if self.is_read_only() {
            return Ok(false);
        }
        let _lock = self.lock()?;
        Ok(entry::remove(&self.attached_path(name))?)
    }

    /// The attached catalogs that are remembered, or why one cannot be read.
    ///
    /// # Errors
    /// If their folder cannot be read.
    pub fn attached_catalogs(&self) -> Result<Vec<(String, Result<Attachment, String>)>> {
        let names = entry::list(&layout::attached(&self.root))?.into_iter();
        let read = |name: String| {
            let attached = match entry::read(&self.attached_path(&name)) {
                Ok(Some(Entry::Catalog { attached })) => Ok(attached),
                Ok(None) => return None,
                Ok(Some(_)) => {
                    Err(format!("'{}' is damaged: it is no entry of a catalog", self.attached_path(&name).display()))
                }
                Err(error) => Err(error.to_string()),
            };
            let why = |why| format!("{name} is attached, but its entry, {why}; DETACH {name} forgets it");
            let attached = attached.map_err(why);
            Some((name, attached))
        };
        Ok(names.filter_map(read).collect())
    }

    /// The schema of this name, with the path of its folder; `None` if there is none.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub(crate) fn schema_entry(&self, name: &str) -> Result<Option<SchemaEntry>, String> {
        let path = self.schema_path(name);
        let remedy = match name {
            MAIN_SCHEMA => String::new(),
            name => format!(", or DROP SCHEMA {name} CASCADE gives it up with its tables"),
        };
        let fault = |what: String| {
            Err(format!("the schema {name} cannot be read: {what}; restore it from a copy of the database{remedy}"))
        };
        match entry::read(&path) {
            Ok(None) if name == MAIN_SCHEMA => fault(format!("its entry '{}' is gone", path.display())),
            Ok(None) => Ok(None),
            Ok(Some(Entry::Schema { folder, graph, attached })) => {
                let path_of = |folder: &str| self.catalog().join(folder);
                let Some(why) = damage::of_folder(&path_of(&folder)) else {
                    return Ok(Some(SchemaEntry { folder: path_of(&folder), graph, attached }));
                };
                match entry::read(&path) {
                    Ok(Some(Entry::Schema { folder: now, .. })) if now == folder => {
                        fault(format!("the folder of its tables, '{}', {}", path_of(&folder).display(), why.text()))
                    }
                    // Dropped, or replaced, between the two.
                    _ => self.schema_entry(name),
                }
            }
            Ok(Some(_)) => fault(format!("'{}' is damaged: it is no entry of a schema", path.display())),
            Err(error) => fault(error.to_string()),
        }
    }

    pub(super) fn registered(&self, schema: &str, table: &str) -> Option<Arc<dyn TableProvider>> {
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner);
        registered.get(&(schema.to_owned(), table.to_owned())).cloned()
    }

    pub(super) fn registered_names(&self, schema: &str) -> Vec<String> {
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner);
        registered.keys().filter(|(of, _)| of == schema).map(|(_, table)| table.clone()).collect()
    }

    pub(super) fn register(&self, schema: &str, table: &str, provider: Arc<dyn TableProvider>) {
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        registered.insert((schema.to_owned(), table.to_owned()), provider);
    }

    pub(super) fn unregister(&self, schema: &str, table: &str) -> Option<Arc<dyn TableProvider>> {
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        registered.remove(&(schema.to_owned(), table.to_owned()))
    }
}

/// Makes an empty database. The header comes last: without it there is none.
fn make(root: &Path) -> Result<()> {
    let shown = root.display();
    if root.is_file() {
        return plan_err!("'{shown}' is a file: a database is a folder; give another path, or ATTACH the file");
    }
    // A misspelt path would be a new, empty database.
    let missing = root.ancestors().skip(1).take_while(|folder| !folder.exists()).last();
    if let Some(missing) = missing {
        let missing = missing.display();
        return raise!(
            Files,
            "the database '{shown}' cannot be made: there is no folder '{missing}'; make it, or correct the path"
        );
    }
    let own = ["catalog", "tables", "attached", "lock", HEADER];
    if let Ok(files) = std::fs::read_dir(root) {
        for file in files {
            let name = file?.file_name();
            // A header that was not finished.
            let unfinished = name.to_str().is_some_and(entry::is_unfinished);
            if !unfinished && !own.iter().any(|own| name == *own) {
                return plan_err!(
                    "the folder '{shown}' holds other files ('{}') and no database: give another path, or ATTACH the folder",
                    name.to_string_lossy()
                );
            }
        }
    }
    let steps = || {
        for folder in [layout::catalog(root), layout::tables(root), layout::attached(root)] {
            std::fs::create_dir_all(folder)?;
        }
        root.parent().map_or(Ok(()), entry::sync_folder)?;
        let lock = File::options().create(true).append(true).open(root.join("lock"))?;
        lock.lock()?;
        if Database::is_at(root) {
            return Ok(());
        }
        let catalog = layout::catalog(root);
        let schema = layout::entry(&catalog, MAIN_SCHEMA);
        // An entry from before a power cut may name a folder that is gone.
        let (folder, entry) = match entry::read(&schema)? {
            Some(Entry::Schema { folder, .. }) => (folder, None),
            _ => {
                let folder = format!("{MAIN_SCHEMA}-{}", names::unique());
                (folder.clone(), Some(Entry::Schema { folder, graph: None, attached: None }))
            }
        };
        make_schema_folder(&catalog.join(folder))?;
        entry::sync_folder(&catalog)?;
        if let Some(entry) = entry {
            entry::write(&schema, &entry)?;
        }
        // The header must not outlast the folders that it speaks for.
        entry::sync_folder(root)?;
        let engine = format!("bonnetdb {}", env!("CARGO_PKG_VERSION"));
        entry::write(&root.join(HEADER), &Header { format: FORMAT, engine })
    };
    Ok(steps().map_err(|error: io::Error| {
        io::Error::new(error.kind(), format!("the database '{shown}' cannot be made: {error}"))
    })?)
}

/// Makes the folder of a schema, with a file in it: many a program copies no empty folders, and a folder that is gone is damage.
fn make_schema_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    File::create(path.join(".keep"))?;
    entry::sync_folder(path)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of the catalog, released on drop.
pub(super) struct Lock {
    _file: File,
}
