//! Where a database keeps what.
//!
//! ```text
//! lab.bonnet/bonnet.json                the format's version
//! lab.bonnet/lock                       locked while the catalog changes
//! lab.bonnet/catalog/results.json       a schema, with the name of its folder
//! lab.bonnet/catalog/results-4f1c/      the entries of its tables and views
//! lab.bonnet/attached/mantra.json       an attached folder of graphs, or an attached database
//! lab.bonnet/tables/results/runs-0a3b/  a Delta table
//! ```

use std::path::{Path, PathBuf};

use super::names;

/// The file that says that a folder is a database.
pub(super) const HEADER: &str = "bonnet.json";

/// Whether there is a database in this folder.
pub(super) fn is_database(root: &Path) -> bool {
    root.join(HEADER).is_file()
}

/// The folder of the schemas of a database.
pub(super) fn catalog(root: &Path) -> PathBuf {
    root.join("catalog")
}

/// The folder of the catalogs that a database remembers as attached.
pub(super) fn attached(root: &Path) -> PathBuf {
    root.join("attached")
}

/// The folder of the Delta tables of a database.
pub(super) fn tables(root: &Path) -> PathBuf {
    root.join("tables")
}

/// The file of an entry of the catalog, in the folder of those that it belongs to.
pub(super) fn entry(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{}.json", names::encode(name)))
}
