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

use crate::lasting::fault::Fault;
use crate::lasting::{entry, names};

/// The commits since a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lasting) enum Since {
    /// Rows came and went; this is the version now.
    Rows(u64),
    /// Something else: the table's columns or properties changed, or the log was cleaned up, so that it has to be read as
    /// a whole.
    More,
}

/// The beginning of the names of files that are not yet commits.
pub(in crate::lasting) const UNFINISHED: &str = ".commit-";

/// The time after which a commit that was not finished is abandoned.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// The key of a commit's `commitInfo` under which our commits say how many actions they have: one that was cut off at the end
/// of a line is a commit like any other, but for that. Other programs read over it.
pub(in crate::lasting) const ACTIONS: &str = "bonnetActions";

/// A line of a commit, as far as it says more than which rows there are.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    meta_data: Option<IgnoredAny>,
    protocol: Option<IgnoredAny>,
    commit_info: Option<Info>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    bonnet_actions: Option<usize>,
}

/// The last checkpoint.
#[derive(Deserialize)]
struct LastCheckpoint {
    version: u64,
}

pub(in crate::lasting) fn log(folder: &Path) -> PathBuf {
    folder.join("_delta_log")
}

pub(in crate::lasting) fn commit(folder: &Path, version: u64) -> PathBuf {
    log(folder).join(format!("{version:020}.json"))
}

pub(in crate::lasting) fn checkpoint(folder: &Path, version: u64) -> PathBuf {
    log(folder).join(format!("{version:020}.checkpoint.parquet"))
}

/// What is wrong with a commit. It can be taken back, with those after it.
pub(in crate::lasting) fn commit_fault(folder: &Path, version: u64, what: String) -> Fault {
    let remedy = version.checked_sub(1).map(|before| match commit(folder, version + 1).exists() {
        false => format!("remove it to go on from version {before}, without what it changed"),
        true => format!("remove it and all later commits to go back to version {before}"),
    });
    Fault { remedy, ..Fault::new(&commit(folder, version), what) }
}

/// Whether a commit changes rows alone.
fn changes_rows_alone(folder: &Path, version: u64, text: &[u8]) -> Result<bool, Fault> {
    let fault = |what: String| commit_fault(folder, version, what);
    let (mut count, mut expected, mut rows_alone) = (0, None, true);
    for line in serde_json::Deserializer::from_slice(text).into_iter::<Line>() {
        let line = line.map_err(|error| match error.is_eof() {
            true => fault(format!("ends within an action, in line {}", error.line())),
            false => fault(format!("is damaged in line {}", error.line())),
        })?;
        count += 1;
        rows_alone &= line.meta_data.is_none() && line.protocol.is_none();
        expected = expected.or(line.commit_info.and_then(|info| info.bonnet_actions));
    }
    match expected {
        _ if count == 0 => Err(fault("is empty".to_owned())),
        Some(expected) if expected != count => {
            Err(fault(format!("has {count} of its {expected} actions: it was cut off")))
        }
        _ => Ok(rows_alone),
    }
}

/// The version of the last checkpoint of the table in this folder, if the log names one.
pub(in crate::lasting) fn last_checkpoint(folder: &Path) -> io::Result<Option<u64>> {
    match std::fs::read(log(folder).join("_last_checkpoint")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => Ok(Some(serde_json::from_slice::<LastCheckpoint>(&text?)?.version)),
    }
}

/// The commits to the table in this folder since this version. Reads the commits since then, and whether
/// there is a later one.
///
/// # Errors
/// A [`Fault`] of a commit that is not as it was written.
pub(in crate::lasting) fn since(folder: &Path, version: u64) -> io::Result<Since> {
    let mut last = version;
    loop {
        let text = match std::fs::read(commit(folder, last + 1)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            text => text.map_err(|error| unread(folder, last + 1, &error))?,
        };
        if !changes_rows_alone(folder, last + 1, &text)? {
            return Ok(Since::More);
        }
        last += 1;
    }
    // Other programs remove old commits, but none that is not in a checkpoint.
    Ok(match last_checkpoint(folder) {
        Ok(Some(checkpoint)) if checkpoint > last => Since::More,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Since::More,
        found => found.map(|_| Since::Rows(last))?,
    })
}

fn unread(folder: &Path, version: u64, error: &io::Error) -> Fault {
    commit_fault(folder, version, format!("cannot be read: {error}"))
}

/// The files of a log by their names.
#[derive(Debug, Default)]
pub(in crate::lasting) struct Listed {
    /// The versions of the commits, in order.
    pub(in crate::lasting) commits: Vec<u64>,
    /// The version of the latest checkpoint that holds anything, and its files.
    pub(in crate::lasting) checkpoint: Option<(u64, Vec<PathBuf>)>,
}

impl Listed {
    /// The files up to a version of the log of the table in this folder.
    pub(in crate::lasting) fn of(folder: &Path, last: u64) -> io::Result<Self> {
        let mut listed = Self::default();
        for file in std::fs::read_dir(log(folder))? {
            let file = file?;
            let name = file.file_name();
            let Some((version, ending)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
            let Some(version) = Some(version).filter(|it| it.len() == 20).and_then(|it| it.parse().ok()) else {
                continue;
            };
            if version > last {
                continue;
            }
            if ending == "json" {
                listed.commits.push(version);
            } else if ending.starts_with("checkpoint.") && file.metadata().is_ok_and(|data| data.len() > 0) {
                match &mut listed.checkpoint {
                    Some((latest, files)) if *latest == version => files.push(file.path()),
                    Some((latest, _)) if *latest > version => {}
                    latest => *latest = Some((version, vec![file.path()])),
                }
            }
        }
        listed.commits.sort_unstable();
        Ok(listed)
    }
}

/// Refuses a log with a commit up to a version that is not as it was written, among those that no checkpoint holds: the library
/// takes one of no bytes, which a power cut may leave of what was never flushed, for one without rows, and of others does not say
/// which it is.
///
/// # Errors
/// A [`Fault`] of that commit.
pub(in crate::lasting) fn check(folder: &Path, last: u64) -> io::Result<()> {
    let listed =
        Listed::of(folder, last).map_err(|error| Fault::new(&log(folder), format!("cannot be read: {error}")))?;
    let before = listed.checkpoint.map(|(version, _)| version);
    for version in listed.commits.into_iter().filter(|version| before.is_none_or(|before| *version > before)) {
        match std::fs::read(commit(folder, version)) {
            // Removed meanwhile, since a checkpoint holds it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(&commit(folder, version)) => {}
            text => {
                let text = text.map_err(|error| of_past(unread(folder, version, &error), last))?;
                changes_rows_alone(folder, version, &text).map_err(|fault| of_past(fault, last))?;
            }
        }
    }
    Ok(())
}

/// A fault that stands in the way of a version of the past, not of the table.
fn of_past(mut fault: Fault, version: u64) -> Fault {
    if version != u64::MAX {
        fault.remedy = Some("read another version".to_owned());
    }
    fault
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// A commit that is written, but not yet under its number.
pub(in crate::lasting) struct Prepared {
    log: PathBuf,
    path: PathBuf,
    file: File,
}

impl Prepared {
    /// Writes the bytes of a commit.
    pub(in crate::lasting) fn new(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        let log = log(folder);
        let path = log.join(format!("{UNFINISHED}{}", names::unique()));
        let file = File::create_new(&path)?;
        let mut this = Self { log, path, file };
        this.file.write_all(bytes)?;
        Ok(this)
    }

    /// Puts it on the disk.
    pub(in crate::lasting) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Makes it the commit of a version, once it is on the disk; `false` where there is one already.
    pub(in crate::lasting) fn put(&self, version: u64) -> io::Result<bool> {
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
pub(in crate::lasting) fn sweep(folder: &Path) -> io::Result<()> {
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
    }

    #[test]
    fn a_commit_that_is_not_as_it_was_written_is_an_error_that_names_the_file() {
        let folder = table();
        check(folder.path(), u64::MAX).unwrap();
        let whole =
            b"{\"commitInfo\":{\"bonnetActions\":3}}\n{\"add\":{\"path\":\"a\"}}\n{\"remove\":{\"path\":\"b\"}}";
        let line_ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
        for (text, what) in [
            (&b""[..], "is empty"),
            (&b"\n"[..], "is empty"),
            (&whole[..30], "ends within an action, in line 1"),
            (&whole[..line_ends[0]], "has 1 of its 3 actions: it was cut off"),
            (&whole[..line_ends[1] + 1], "has 2 of its 3 actions: it was cut off"),
            (&[0; 40][..], "is damaged in line 1"),
            (&b"{}\n[1]"[..], "is damaged in line 2"),
        ] {
            std::fs::write(commit(folder.path(), 1), text).unwrap();
            for error in [since(folder.path(), 0).unwrap_err(), check(folder.path(), u64::MAX).unwrap_err()] {
                let (error, file) = (error.to_string(), format!("00000000000000000001.json' {what}"));
                assert!(
                    error.contains(&file)
                        && error.ends_with("or remove it to go on from version 0, without what it changed"),
                    "{error}"
                );
            }
        }
        std::fs::write(commit(folder.path(), 1), whole).unwrap();
        check(folder.path(), u64::MAX).unwrap();
        assert_eq!(since(folder.path(), 0).unwrap(), Since::Rows(1));
        // One that a checkpoint holds is not read again, and one that others follow cannot be taken back.
        std::fs::write(commit(folder.path(), 1), "").unwrap();
        std::fs::write(commit(folder.path(), 2), whole).unwrap();
        let error = check(folder.path(), u64::MAX).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "is empty; restore it from a copy, or remove it and all later commits to go back to version 0"
            ),
            "{error}"
        );
        assert!(check(folder.path(), 1).unwrap_err().to_string().ends_with("or read another version"));
        check(folder.path(), 0).unwrap();
        std::fs::write(checkpoint(folder.path(), 1), "PAR1").unwrap();
        check(folder.path(), u64::MAX).unwrap();
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
