//! The catalog of a database on disk: a small file for each schema, table and view. A file's appearance under its name
//! is the commit; what it names was written before.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::names;
use crate::ground::graph_facts::GraphFacts;

/// An entry of the catalog, under its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Entry {
    /// A schema; its tables and views are the entries of its folder.
    Schema {
        /// The folder below `catalog/`. A new one for each schema that is made, so that a schema goes, and is replaced,
        /// by a change of this entry alone.
        folder: String,
        /// The facts of a graph that was made here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        graph: Option<GraphFacts>,
        /// The data set that the schema stands for, if it is attached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attached: Option<Attachment>,
    },
    /// A catalog that is attached: a folder of graphs, or another database.
    Catalog {
        /// The location and format of what is attached.
        attached: Attachment,
    },
    /// A Delta table.
    Table {
        /// The folder of the table below `tables/`.
        folder: String,
        /// The defaults of its columns, as SQL.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        defaults: Vec<(String, String)>,
    },
    /// A view.
    View {
        /// The query of the view.
        sql: String,
        /// The schema in which the query's names are looked up.
        schema: String,
    },
}

/// The operands of an ATTACH.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// An absolute path, a URL, or `builtin:name`.
    pub location: String,
    /// The type, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether nothing can be created beside it.
    #[serde(default)]
    pub read_only: bool,
    /// All other options.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// Reads an entry; `None` if there is none.
///
/// # Errors
/// With the file's path and what is wrong with it. What to do depends on what the entry names.
pub(super) fn read(path: &Path) -> io::Result<Option<Entry>> {
    let fault = |what: String| io::Error::new(io::ErrorKind::InvalidData, format!("'{}' {what}", path.display()));
    let text = match std::fs::read(path) {
        Ok(text) => text,
        // A link to what is not there is no name that is free.
        Err(error) if nothing(&error) && path.symlink_metadata().is_err() => return Ok(None),
        Err(error) if nothing(&error) => return Err(fault("is a link to what is not there".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Err(io::Error::new(error.kind(), fault("is a folder, where the catalog has a file".to_owned())));
        }
        Err(error) => return Err(fault(format!("cannot be read: {error}"))),
    };
    if text.trim_ascii().is_empty() {
        return Err(fault("is damaged: it is empty".to_owned()));
    }
    let entry: Entry = serde_json::from_slice(&text).map_err(|error| fault(format!("is damaged: {error}")))?;
    match entry.folder() {
        Some((folder, parts)) if !is_below(folder, parts) => {
            Err(fault(format!("is damaged: it names the folder '{folder}', which is none of the database")))
        }
        _ => Ok(Some(entry)),
    }
}

impl Entry {
    /// The folder that an entry names, and how many names its path has.
    fn folder(&self) -> Option<(&str, usize)> {
        match self {
            Self::Schema { folder, .. } => Some((folder, 1)),
            Self::Table { folder, .. } => Some((folder, 2)),
            Self::Catalog { .. } | Self::View { .. } => None,
        }
    }
}

/// Whether a path leads to a folder below another, by this many names.
fn is_below(path: &str, parts: usize) -> bool {
    let plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    Path::new(path).components().all(plain) && Path::new(path).components().count() == parts
}

/// Whether an error means that there is no such file. A name that is too long for a file is none either.
fn nothing(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(error.kind(), K::NotFound | K::NotADirectory | K::InvalidFilename)
}

/// The extension of files that are not yet entries.
const UNFINISHED: &str = ".tmp";

/// Whether a file of this name was to become an entry.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(UNFINISHED)
}

/// Writes an entry under another name, and renames it once it is on disk, in one step.
pub(super) fn write(path: &Path, entry: &impl Serialize) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = folder.join(format!(".{}{UNFINISHED}", names::unique()));
    let put = || {
        let mut file = File::create_new(&temporary)?;
        file.write_all(&serde_json::to_vec_pretty(entry)?)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        sync_folder(folder)
    };
    put().map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        at(path, &error)
    })
}

/// Gives an entry another name in its folder, in one step.
pub(super) fn rename(path: &Path, to: &Path) -> io::Result<()> {
    let put = || {
        std::fs::rename(path, to)?;
        sync_folder(to.parent().unwrap_or(Path::new(".")))
    };
    put().map_err(|error| at(path, &error))
}

/// Removes an entry; whether there was one.
pub(super) fn remove(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(_) if path.is_dir() => Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            format!("'{}' is a folder, where the catalog has a file: move it away", path.display()),
        )),
        Err(error) => Err(at(path, &error)),
        Ok(()) => sync_folder(path.parent().unwrap_or(Path::new("."))).map(|()| true),
    }
}

/// The names of the entries of a folder, in order; none if there is no folder.
pub(super) fn list(folder: &Path) -> io::Result<Vec<String>> {
    let files = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files.map_err(|error| at(folder, &error))?,
    };
    let mut found = Vec::new();
    for file in files {
        let name = file.map_err(|error| at(folder, &error))?.file_name();
        if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".json")).and_then(names::decode) {
            found.push(name);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Makes the names in a folder last.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix opens folders.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The error with the path that it is about, and what to do where that is known.
pub(super) fn at(path: &Path, error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ": free space on the disk and run the statement again; nothing was changed"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ": the database cannot be written here; make the folder writable, or work on a copy"
        }
        _ => "",
    };
    io::Error::new(error.kind(), format!("'{}': {error}{advice}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let attached = Attachment {
            location: "/data/cora".into(),
            format: Some("planetoid".into()),
            read_only: true,
            options: [("directed".to_owned(), "true".to_owned())].into(),
        };
        for entry in [
            Entry::Schema { folder: "s-1".into(), graph: Some(GraphFacts::default()), attached: None },
            Entry::Schema { folder: "s-2".into(), graph: None, attached: Some(attached.clone()) },
            Entry::Catalog { attached },
            Entry::Table { folder: "main/t-1".into(), defaults: vec![("a".into(), "1 + 1".into())] },
            Entry::View { sql: "SELECT 'ü'".into(), schema: "main".into() },
        ] {
            let path = folder.path().join("x.json");
            write(&path, &entry).unwrap();
            assert_eq!(read(&path).unwrap(), Some(entry));
        }
        assert_eq!(list(folder.path()).unwrap(), ["x"]);
        assert!(remove(&folder.path().join("x.json")).unwrap());
        assert!(!remove(&folder.path().join("x.json")).unwrap());
        // Nothing temporary stays behind.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_entry_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for text in [
            "",
            "{",
            "{\"kind\": \"table\"}",
            "{\"kind\": \"spoon\"}",
            "{\"kind\": \"table\", \"folder\": \"../../etc\"}",
            "{\"kind\": \"table\", \"folder\": \"/etc/x\"}",
            "{\"kind\": \"table\", \"folder\": \"main\"}",
            "{\"kind\": \"schema\", \"folder\": \"..\"}",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("x.json' is damaged: "), "{error}");
        }
        // A folder is no entry, and is not removed.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        for error in [read(&path).unwrap_err(), remove(&path).unwrap_err()] {
            assert!(error.to_string().contains("x.json' is a folder"), "{error}");
        }
        #[cfg(unix)]
        {
            std::fs::remove_dir(&path).unwrap();
            std::os::unix::fs::symlink("nothing", &path).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("x.json' is a link to what is not there"));
            assert!(remove(&path).unwrap());
            assert_eq!(read(&path).unwrap(), None);
        }
    }
}
