//! Tables that are being made.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::common::Result;

use super::database::Database;
use super::{entry, layout, names};

/// The folder of a table that is not yet in the catalog. Removed on drop unless [`Building::keep`] is called.
pub(super) struct Building {
    database: Arc<Database>,
    /// The folder below `tables/`.
    pub(super) folder: String,
    mark: PathBuf,
    _held: File,
    keep: bool,
}

impl Building {
    pub(super) fn path(&self) -> PathBuf {
        self.database.table_path(&self.folder)
    }

    /// The folder is in the catalog now.
    pub(super) fn keep(mut self) {
        self.keep = true;
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed now, VACUUM removes.
            let _ = std::fs::remove_dir_all(self.path());
        }
        let _ = std::fs::remove_file(&self.mark);
    }
}

impl Database {
    /// A folder for a new table, which is removed on drop unless [`Building::keep`] is called.
    pub(super) fn build(self: &Arc<Self>, schema: &str, table: &str) -> Result<Building> {
        self.writable()?;
        let parent = names::plain(schema);
        let folder = format!("{parent}/{}-{}", names::plain(table), names::unique());
        let (path, mark) = (self.table_path(&folder), self.table_path(&format!("{folder}.building")));
        let start = || {
            let parent = self.table_path(&parent);
            if !parent.is_dir() {
                std::fs::create_dir_all(&parent)?;
                entry::sync_folder(&layout::tables(self.root()))?;
            }
            // VACUUM may take the mark away before it is locked.
            let held = loop {
                let held = File::create_new(&mark)?;
                held.lock()?;
                if mark.is_file() {
                    break held;
                }
            };
            std::fs::create_dir(&path)?;
            entry::sync_folder(&parent)?;
            Ok(held)
        };
        let held = start().map_err(|error: io::Error| entry::at(&path, &error))?;
        Ok(Building { database: Arc::clone(self), folder, mark, _held: held, keep: false })
    }
}
