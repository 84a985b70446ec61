//! The end of a table's log: what has been committed since a version, and the next commit.
//!
//! A commit is the file `_delta_log/N.json`, whose appearance under its number makes it so; the numbers have no gaps. (Delta
//! Transaction Log Protocol, "Delta Log Entries".) So given a version it is enough to look whether the next one is there.
//! An INSERT needs no more, and no list of the table's files, which makes it cheap.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::delta::{entry, names};

/// The commits since a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::delta) enum Since {
    /// Rows came and went; this is the version now.
    Rows(u64),
    /// Something else: the table's columns or properties changed, or the log was cleaned up, so that it has to be read as
    /// a whole.
    More,
}

/// The beginning of the names of files that are not yet commits.
pub(in crate::delta) const UNFINISHED: &str = ".commit-";

/// Such a file is abandoned after this time.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// A line of a commit, as far as it says more than which rows there are.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    meta_data: Option<IgnoredAny>,
    protocol: Option<IgnoredAny>,
}

/// The last checkpoint.
#[derive(Deserialize)]
struct LastCheckpoint {
    version: u64,
}

pub(in crate::delta) fn log(folder: &Path) -> PathBuf {
    folder.join("_delta_log")
}

pub(in crate::delta) fn commit(folder: &Path, version: u64) -> PathBuf {
    log(folder).join(format!("{version:020}.json"))
}

/// The lines of a commit, each an action.
fn lines(commit: &[u8]) -> impl Iterator<Item = &[u8]> {
    commit.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// The last checkpoint of the table in this folder, if there is one.
fn last_checkpoint(folder: &Path) -> io::Result<Option<LastCheckpoint>> {
    match std::fs::read(log(folder).join("_last_checkpoint")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => Ok(Some(serde_json::from_slice(&text?)?)),
    }
}

/// The commits to the table in this folder since this version. Reads the commits since then, and whether
/// there is a later one.
pub(in crate::delta) fn since(folder: &Path, version: u64) -> io::Result<Since> {
    let mut last = version;
    loop {
        let text = match std::fs::read(commit(folder, last + 1)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            text => text?,
        };
        if lines(&text).next().is_none() {
            return Err(empty(&commit(folder, last + 1)));
        }
        for line in lines(&text) {
            match serde_json::from_slice(line) {
                Ok(Line { meta_data: None, protocol: None }) => {}
                // The reader of the whole log says what is damaged.
                _ => return Ok(Since::More),
            }
        }
        last += 1;
    }
    // Other programs remove old commits, but none that is not in a checkpoint.
    Ok(match last_checkpoint(folder) {
        Ok(Some(checkpoint)) if checkpoint.version > last => Since::More,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Since::More,
        found => found.map(|_| Since::Rows(last))?,
    })
}

/// Refuses a log with a commit of no bytes, which a power cut may leave of one that was never flushed: the library takes
/// it for a commit without rows.
pub(in crate::delta) fn check(folder: &Path) -> io::Result<()> {
    for file in std::fs::read_dir(log(folder))? {
        let file = file?;
        let name = file.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".json"));
        let is_commit = stem.is_some_and(|stem| stem.len() == 20 && stem.bytes().all(|byte| byte.is_ascii_digit()));
        if is_commit && file.metadata()?.len() == 0 {
            return Err(empty(&file.path()));
        }
    }
    Ok(())
}

fn empty(commit: &Path) -> io::Error {
    let text = format!(
        "'{}' is empty, so the rows of that commit are lost: restore the file from a copy, or, if it is the latest, \
         remove it to go on from the commit before",
        commit.display()
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A commit that is written, but not yet under its number.
pub(in crate::delta) struct Prepared {
    log: PathBuf,
    path: PathBuf,
    file: File,
}

impl Prepared {
    /// Writes the bytes of a commit.
    pub(in crate::delta) fn new(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        let log = log(folder);
        let path = log.join(format!("{UNFINISHED}{}", names::unique()));
        let file = File::create_new(&path)?;
        let mut this = Self { log, path, file };
        this.file.write_all(bytes)?;
        Ok(this)
    }

    /// Puts it on the disk.
    pub(in crate::delta) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Makes it the commit of a version, once it is on the disk; `false` where there is one already.
    pub(in crate::delta) fn put(&self, version: u64) -> io::Result<bool> {
        // A second name can be given only where there is none: of two writers one is first.
        match std::fs::hard_link(&self.path, self.log.join(format!("{version:020}.json"))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            linked => linked.and_then(|()| entry::sync_folder(&self.log)).map(|()| true),
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // What cannot be removed now, VACUUM removes.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes what processes that were killed left of their commits.
pub(in crate::delta) fn sweep(folder: &Path) -> io::Result<()> {
    for file in std::fs::read_dir(log(folder))? {
        let file = file?;
        let unfinished = file.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
        let changed = file.metadata().and_then(|data| data.modified());
        let age = changed.map(|time| SystemTime::now().duration_since(time).unwrap_or_default());
        if unfinished && age.is_ok_and(|age| age > ABANDONED) {
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[u8] = b"{\"commitInfo\":{}}\n{\"add\":{\"path\":\"metaData\"}}\n";

    fn put(folder: &Path, version: u64, bytes: &[u8]) -> io::Result<bool> {
        let prepared = Prepared::new(folder, bytes)?;
        prepared.sync()?;
        prepared.put(version)
    }

    fn table() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(log(folder.path())).unwrap();
        assert!(put(folder.path(), 0, b"{\"protocol\":{}}\n{\"metaData\":{}}").unwrap());
        folder
    }

    #[test]
    fn of_two_commits_of_a_version_the_first_is_kept() {
        let folder = table();
        assert!(put(folder.path(), 1, ROWS).unwrap());
        assert!(!put(folder.path(), 1, b"{}").unwrap());
        assert_eq!(std::fs::read(commit(folder.path(), 1)).unwrap(), ROWS);
        // Nothing unfinished stays behind.
        assert_eq!(std::fs::read_dir(log(folder.path())).unwrap().count(), 2);
    }

    #[test]
    fn rows_are_distinguished_from_what_changes_more() {
        let folder = table();
        assert_eq!(since(folder.path(), 0).unwrap(), Since::Rows(0));
        for version in 1..4 {
            assert!(put(folder.path(), version, ROWS).unwrap());
            assert_eq!(since(folder.path(), 0).unwrap(), Since::Rows(version));
        }
        assert!(put(folder.path(), 4, b"{ \"metaData\": {} }").unwrap());
        assert_eq!(since(folder.path(), 2).unwrap(), Since::More);
        assert_eq!(since(folder.path(), 4).unwrap(), Since::Rows(4));
        assert!(put(folder.path(), 5, b"no JSON").unwrap());
        assert_eq!(since(folder.path(), 4).unwrap(), Since::More);
    }

    #[test]
    fn a_commit_without_bytes_is_an_error_that_names_the_file() {
        let folder = table();
        check(folder.path()).unwrap();
        std::fs::write(commit(folder.path(), 1), "").unwrap();
        for error in [since(folder.path(), 0).unwrap_err(), check(folder.path()).unwrap_err()] {
            assert!(error.to_string().contains("00000000000000000001.json' is empty"), "{error}");
        }
    }

    #[test]
    fn a_log_that_was_cleaned_up_is_noticed() {
        let folder = table();
        // Versions 1 to 6 are in a checkpoint, and gone.
        std::fs::write(log(folder.path()).join("_last_checkpoint"), "{\"version\":6,\"size\":3}").unwrap();
        assert_eq!(since(folder.path(), 0).unwrap(), Since::More);
        assert_eq!(since(folder.path(), 6).unwrap(), Since::Rows(6));
    }

    #[test]
    fn only_what_was_left_long_ago_is_swept() {
        let folder = table();
        let left = |name: &str, age: Duration| {
            let file = File::create(log(folder.path()).join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        };
        left(".commit-old", ABANDONED * 2);
        left(".commit-new", Duration::ZERO);
        sweep(folder.path()).unwrap();
        assert!(!log(folder.path()).join(".commit-old").exists());
        assert!(log(folder.path()).join(".commit-new").exists() && commit(folder.path(), 0).exists());
    }
}
