//! Tables that are no longer in the catalog, and when VACUUM removes them.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use datafusion::common::Result;

use super::database::{Database, SchemaEntry};
use super::entry::{self, Entry};
use super::layout;
use crate::ground::new_table::MAIN_SCHEMA;

impl Database {
    /// The entries of a folder of the catalog that can be read.
    fn entries(&self, folder: &str) -> Result<Vec<Entry>> {
        let folder = self.catalog().join(folder);
        let names = entry::list(&folder)?.into_iter();
        let read = |name: String| entry::read(&layout::entry(&folder, &name)).ok().flatten();
        Ok(names.filter_map(read).collect())
    }

    /// Says when the table of an entry was dropped, from which on VACUUM counts. Where that cannot be written, VACUUM
    /// counts from when it finds the table without an entry.
    pub(super) fn mark_dropped(&self, entry: &Entry) {
        if let Entry::Table { folder, .. } = entry {
            let _ = File::create(self.dropped_mark(folder));
        }
    }

    /// Takes back that the table of an entry was dropped.
    pub(super) fn unmark_dropped(&self, entry: &Entry) {
        if let Entry::Table { folder, .. } = entry {
            // Where it stays, VACUUM looks at the entry first.
            let _ = std::fs::remove_file(self.dropped_mark(folder));
        }
    }

    fn dropped_mark(&self, folder: &str) -> PathBuf {
        self.table_path(&format!("{folder}.dropped"))
    }

    /// Removes the entries of a schema that is no longer in the catalog.
    pub(super) fn remove_entries(&self, folder: &str) {
        self.entries(folder).unwrap_or_default().iter().for_each(|entry| self.mark_dropped(entry));
        let _ = std::fs::remove_dir_all(self.catalog().join(folder));
    }

    /// Removes the files of tables that were dropped longer ago than `retain`, of schemas that were dropped, and of
    /// statements that were killed; how many folders of tables. Other processes may still read a table that was dropped.
    /// Nothing where something of the catalog cannot be read, whose files would be taken for dropped ones.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove_dropped(&self, retain: Duration) -> Result<usize> {
        let _lock = self.lock()?;
        let (mut used, mut schemas) = (HashSet::new(), HashSet::new());
        // One without its entry is damaged.
        let names = entry::list(&self.catalog())?.into_iter().chain([MAIN_SCHEMA.to_owned()]);
        for schema in names {
            let Ok(found) = self.schema_entry(&schema) else { return Ok(0) };
            let Some(SchemaEntry { folder: path, .. }) = found else { continue };
            for name in entry::list(&path)? {
                match entry::read(&layout::entry(&path, &name)) {
                    Ok(Some(Entry::Table { folder, .. })) => {
                        used.insert(folder);
                    }
                    Ok(Some(Entry::View { .. }) | None) => {}
                    Ok(Some(_)) | Err(_) => return Ok(0),
                }
            }
            schemas.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        let mut removed = 0;
        let tables = layout::tables(self.root());
        for parent in folders(&tables)? {
            for name in folders(&tables.join(&parent))? {
                let folder = format!("{parent}/{name}");
                if !used.contains(&folder) && self.remove_table(&folder, retain)? {
                    removed += 1;
                }
            }
            self.remove_marks(&tables.join(&parent), &parent, &used)?;
            let _ = std::fs::remove_dir(tables.join(&parent));
        }
        for folder in folders(&self.catalog())? {
            if !schemas.contains(&folder) {
                let path = self.catalog().join(folder);
                std::fs::remove_dir_all(&path).map_err(|error| entry::at(&path, &error))?;
            }
        }
        Ok(removed)
    }

    /// Removes the marks that killed statements left of tables that are in the catalog, or have no folder.
    fn remove_marks(&self, path: &Path, parent: &str, used: &HashSet<String>) -> Result<()> {
        for file in std::fs::read_dir(path).map_err(|error| entry::at(path, &error))? {
            let mark = file.map_err(|error| entry::at(path, &error))?.path();
            let name = mark.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let kind = mark.extension().and_then(|kind| kind.to_str());
            let folder = format!("{parent}/{name}");
            if !matches!(kind, Some("building" | "dropped")) || (path.join(name).is_dir() && !used.contains(&folder)) {
                continue;
            }
            // A statement that makes a table holds its mark.
            if let Ok(file) = File::open(&mark)
                && file.try_lock().is_ok()
            {
                std::fs::remove_file(&mark).map_err(|error| entry::at(&mark, &error))?;
            }
        }
        Ok(())
    }

    /// Removes the folder of a table without an entry, unless a statement is building it, or it was dropped within
    /// `retain`; whether it did.
    fn remove_table(&self, folder: &str, retain: Duration) -> Result<bool> {
        let (path, building, dropped) =
            (self.table_path(folder), self.table_path(&format!("{folder}.building")), self.dropped_mark(folder));
        match File::open(&building) {
            // A statement that makes a table holds its mark until the table is in the catalog.
            Ok(file) if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) => return Ok(false),
            // One that was killed: the table was never in the catalog.
            Ok(_) => {}
            Err(_) => {
                let since = match dropped.metadata().and_then(|data| data.modified()) {
                    Ok(since) => since,
                    Err(_) => {
                        File::create(&dropped).map_err(|error| entry::at(&dropped, &error))?;
                        SystemTime::now()
                    }
                };
                if since.elapsed().unwrap_or_default() < retain {
                    return Ok(false);
                }
            }
        }
        std::fs::remove_dir_all(&path).map_err(|error| entry::at(&path, &error))?;
        let _ = std::fs::remove_file(&building);
        let _ = std::fs::remove_file(&dropped);
        self.forget(folder);
        Ok(true)
    }
}

/// The names of the folders in a folder.
fn folders(path: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(path).map_err(|error| entry::at(path, &error))? {
        let file = file.map_err(|error| entry::at(path, &error))?;
        if file.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(name) = file.file_name().into_string()
        {
            found.push(name);
        }
    }
    found.sort_unstable();
    Ok(found)
}
