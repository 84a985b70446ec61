//! Folders that are not there, or are something else.

use std::io::ErrorKind;
use std::path::Path;

use datafusion::common::DataFusionError;

use super::fault::{Fault, unreadable};
use super::origin::database_of;
use crate::delta::fast::log;

/// The error of a table whose folder has no log.
pub(in crate::delta) fn without_log(name: &str, folder: &Path) -> Option<DataFusionError> {
    let log = log::log(folder);
    if log.is_dir() {
        return None;
    }
    let (path, what) = match of_folder(folder) {
        Some(what) => (folder, what),
        None => (log.as_path(), of_folder(&log)?),
    };
    // What is there, but cannot be read, is not given up so easily.
    let remedy = match what {
        FolderFault::Gone => database_of(folder).map(|_| format!("give the table up: DROP TABLE {name}")),
        FolderFault::Unreadable(_) => Some("make it readable".to_owned()),
    };
    Some(unreadable(name, folder, Fault { remedy, ..Fault::new(path, what.text()) }))
}

/// Why a folder cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::delta) enum FolderFault {
    Gone,
    Unreadable(String),
}

impl FolderFault {
    /// The end of a sentence that begins with the path.
    pub(in crate::delta) fn text(&self) -> &str {
        match self {
            Self::Gone => "is gone",
            Self::Unreadable(why) => why,
        }
    }
}

/// Why this is no folder that can be read; `None` if it is one.
pub(in crate::delta) fn of_folder(path: &Path) -> Option<FolderFault> {
    let unreadable = |why: String| Some(FolderFault::Unreadable(why));
    match path.metadata() {
        Ok(data) if data.is_dir() => match path.read_dir() {
            Ok(_) => None,
            Err(error) => unreadable(format!("cannot be read: {error}")),
        },
        Ok(_) => unreadable("is a file, where a folder has to be".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => match path.symlink_metadata() {
            Ok(_) => unreadable("is a link to what is not there".to_owned()),
            Err(_) => Some(FolderFault::Gone),
        },
        Err(error) => unreadable(format!("cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_told_from_what_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(of_folder(folder.path()), None);
        assert_eq!(of_folder(&at("nothing")), Some(FolderFault::Gone));
        std::fs::write(at("file"), "").unwrap();
        let why = |name: &str| of_folder(&at(name)).unwrap().text().to_owned();
        assert_eq!(why("file"), "is a file, where a folder has to be");
        assert!(why("file/inside").starts_with("cannot be read: "), "{}", why("file/inside"));
        assert!(why(&"x".repeat(300)).starts_with("cannot be read: "));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nothing", at("broken")).unwrap();
            std::os::unix::fs::symlink("loop", at("loop")).unwrap();
            assert_eq!(why("broken"), "is a link to what is not there");
            assert!(why("loop").starts_with("cannot be read: "), "{}", why("loop"));
        }
    }
}
