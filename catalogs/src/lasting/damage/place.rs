//! Folders that are not there, or are something else.

use std::io::{self, ErrorKind};
use std::path::Path;

use datafusion::common::DataFusionError;

use super::origin::database_of;
use super::unreadable::unreadable;
use crate::lasting::fast::log;
use crate::lasting::fault::Fault;

/// The error of a table whose folder has no log.
pub(in crate::lasting) fn without_log(name: &str, folder: &Path) -> Option<DataFusionError> {
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
        PlaceFault::Gone => database_of(folder).map(|_| format!("give the table up: DROP TABLE {name}")),
        PlaceFault::Unreadable(_) => Some("make it readable".to_owned()),
    };
    Some(unreadable(name, folder, Fault { remedy, ..Fault::new(path, what.text()) }))
}

/// Why what is at a path cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::lasting) enum PlaceFault {
    Gone,
    Unreadable(String),
}

impl PlaceFault {
    /// Why nothing is known of what is at this path.
    pub(super) fn of(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound if path.symlink_metadata().is_err() => Self::Gone,
            ErrorKind::NotFound => Self::Unreadable("is a link to what is not there".to_owned()),
            _ => Self::Unreadable(format!("cannot be read: {error}")),
        }
    }

    /// The end of a sentence that begins with the path.
    pub(in crate::lasting) fn text(&self) -> &str {
        match self {
            Self::Gone => "is gone",
            Self::Unreadable(why) => why,
        }
    }
}

/// Why this is no folder that can be read; `None` if it is one.
pub(in crate::lasting) fn of_folder(path: &Path) -> Option<PlaceFault> {
    let unreadable = |why: String| Some(PlaceFault::Unreadable(why));
    match path.metadata() {
        Ok(data) if data.is_dir() => match path.read_dir() {
            Ok(_) => None,
            Err(error) => unreadable(format!("cannot be read: {error}")),
        },
        Ok(_) => unreadable("is a file, where a folder has to be".to_owned()),
        Err(error) => Some(PlaceFault::of(path, &error)),
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
        assert_eq!(of_folder(&at("nothing")), Some(PlaceFault::Gone));
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
