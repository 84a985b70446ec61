//! A file of an object store by the path that a user knows.

use std::path::PathBuf;

use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;

/// The path of a file of this machine.
pub(crate) fn path_of(location: &Path) -> PathBuf {
    let path = LocalFileSystem::new().path_to_filesystem(location);
    path.unwrap_or_else(|_| PathBuf::from(format!("/{location}")))
}
