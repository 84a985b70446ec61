//! A file of an object store by the path that a user knows, and what is no path.

use std::path::PathBuf;

use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;

/// The path of a file of this machine.
pub(crate) fn path_of(location: &Path) -> PathBuf {
    let path = LocalFileSystem::new().path_to_filesystem(location);
    path.unwrap_or_else(|_| PathBuf::from(format!("/{location}")))
}

/// Whether a path is the address of a file that is none of this machine, `https://host/x.csv`: it begins with a scheme other than
/// `file`.
pub fn is_address(path: &str) -> bool {
    let scheme = path.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| !it.is_empty() && it != "file" && it.chars().all(|c| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        for address in ["https://h/x.csv", "HTTP://h/x", "s3://b/k", "gs://b/k"] {
            assert!(is_address(address), "{address}");
        }
        for path in ["/tmp/x.csv", "file:///tmp/x.csv", "a/b://c", "c:d.csv", "x.csv", "://x"] {
            assert!(!is_address(path), "{path}");
        }
    }
}
