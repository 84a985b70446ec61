//! Where a database is: paths, and the URIs that driver managers hand over unchanged.

use std::path::PathBuf;

use adbc_core::error::Result;
use url::Url;

use super::invalid;

/// The schemes of URIs of databases.
const SCHEMES: [&str; 2] = ["bonnetdb:", "file:"];

/// The folder at a path; none for a database in memory.
pub(super) fn folder_at(path: &str) -> Option<PathBuf> {
    (!matches!(path, "" | ":memory:")).then(|| path.into())
}

/// The folder that a URI names: `bonnetdb:///data/lab.bonnet` is `/data/lab.bonnet`, `bonnetdb:lab.bonnet` the relative path
/// behind the colon, and `file:` the same; a text without a scheme is a path. `%20` is a space behind `//`. None for a database
/// in memory: `bonnetdb://`, `bonnetdb::memory:`.
///
/// # Errors
/// For a host, a query, a fragment, and another scheme.
pub(super) fn folder(uri: &str) -> Result<Option<PathBuf>> {
    let Some(rest) = SCHEMES.iter().find_map(|scheme| uri.strip_prefix(scheme)) else {
        return match uri.split_once("://") {
            Some((scheme, _)) => Err(refused(uri, &format!("{scheme}: is no scheme of a database"))),
            None => Ok(folder_at(uri)),
        };
    };
    if !rest.starts_with("//") {
        return Ok(folder_at(rest));
    }
    if matches!(rest, "//" | "///" | "///:memory:") {
        return Ok(None);
    }
    let parsed = Url::parse(uri).map_err(|error| refused(uri, &error.to_string()))?;
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(refused(uri, "options are given apart, and ? and # of a folder's name as %3F and %23"));
    }
    let folder = parsed.to_file_path().map_err(|()| refused(uri, "it names a host"))?;
    Ok(Some(folder))
}

fn refused(uri: &str, why: &str) -> adbc_core::error::Error {
    invalid(format!(
        "the uri '{uri}': {why}; write bonnetdb:///data/lab.bonnet for the folder /data/lab.bonnet, bonnetdb:lab.bonnet for a \
         relative path, bonnetdb:// for a database in memory"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_folders() {
        for (uri, path) in [
            ("bonnetdb:///data/x", Some("/data/x")),
            ("bonnetdb:///data/my%20lab", Some("/data/my lab")),
            ("bonnetdb://localhost/data/x", Some("/data/x")),
            ("bonnetdb:lab.bonnet", Some("lab.bonnet")),
            ("bonnetdb:/data/x", Some("/data/x")),
            ("file:///data/x", Some("/data/x")),
            ("file:lab.bonnet", Some("lab.bonnet")),
            ("lab.bonnet", Some("lab.bonnet")),
            ("/data/x", Some("/data/x")),
            ("bonnetdb://", None),
            ("bonnetdb:", None),
            ("bonnetdb::memory:", None),
            (":memory:", None),
            ("", None),
        ] {
            assert_eq!(folder(uri).unwrap(), path.map(PathBuf::from), "{uri}");
        }
        for uri in ["bonnetdb://host/x", "bonnetdb:///x?threads=1", "bonnetdb:///x#y", "postgresql://host/x"] {
            assert!(folder(uri).unwrap_err().message.contains("bonnetdb:///data"), "{uri}");
        }
    }
}
