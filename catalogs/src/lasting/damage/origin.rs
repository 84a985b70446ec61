//! The database that a table's folder belongs to, and the table's name in it.

use std::path::{Path, PathBuf};

use crate::ground::new_table::MAIN_SCHEMA;
use crate::lasting::entry::{self, Entry};
use crate::lasting::layout;

/// The folder of the database of which this is the folder of a table.
pub(super) fn database_of(folder: &Path) -> Option<PathBuf> {
    let root = folder.ancestors().nth(3)?;
    layout::is_database(root).then(|| root.to_owned())
}

/// The name of the table in this folder: in the catalog of its database, or else the folder itself.
pub(super) fn table_name(folder: &Path) -> String {
    in_catalog(folder).unwrap_or_else(|| format!("the Delta table '{}'", folder.display()))
}

fn in_catalog(folder: &Path) -> Option<String> {
    let root = database_of(folder)?;
    let below = folder.strip_prefix(layout::tables(&root)).ok()?;
    let catalog = layout::catalog(&root);
    entry::list(&catalog).ok()?.into_iter().find_map(|schema| {
        let Ok(Some(Entry::Schema { folder, .. })) = entry::read(&layout::entry(&catalog, &schema)) else {
            return None;
        };
        let entries = catalog.join(folder);
        let is_it = |table: &String| match entry::read(&layout::entry(&entries, table)) {
            Ok(Some(Entry::Table { folder, .. })) => Path::new(&folder) == below,
            _ => false,
        };
        let table = entry::list(&entries).ok()?.into_iter().find(is_it)?;
        Some(if schema == MAIN_SCHEMA { table } else { format!("{schema}.{table}") })
    })
}
