//! Logs that cannot be read.

use std::path::Path;

use deltalake::kernel::Action;

use super::data_files::{of_contents, of_file};
use crate::lasting::fast::log::{self, Listed};
use crate::lasting::fault::Fault;

/// What is wrong with the log of the table in this folder, once it could not be read.
pub(in crate::lasting) fn of_log(folder: &Path) -> Option<Fault> {
    if let Err(error) = log::check(folder, u64::MAX) {
        let fault = error.get_ref().and_then(|inner| inner.downcast_ref::<Fault>()).cloned();
        return Some(fault.unwrap_or_else(|| Fault::new(&log::log(folder), format!("cannot be read: {error}"))));
    }
    let listed = Listed::of(folder, u64::MAX).ok()?;
    if listed.commits.is_empty() && listed.checkpoint.is_none() {
        return Some(Fault::new(&log::log(folder), "holds no commit"));
    }
    checkpoint(folder, &listed).or_else(|| gap(folder, &listed)).or_else(|| action(folder, &listed))
}

/// The first commit with an action that is none of the protocol's.
fn action(folder: &Path, listed: &Listed) -> Option<Fault> {
    let first = listed.checkpoint.as_ref().map_or(0, |(version, _)| version + 1);
    listed.commits.iter().filter(|version| **version >= first).find_map(|version| {
        let path = log::commit(folder, *version);
        let text = std::fs::read_to_string(&path).ok()?;
        let known = ["{\"add\"", "{\"remove\"", "{\"metaData\"", "{\"protocol\""];
        let damaged = |line: &&str| {
            known.iter().any(|action| line.starts_with(action)) && serde_json::from_str::<Action>(line).is_err()
        };
        let line = text.lines().position(|line| damaged(&line))?;
        Some(log::commit_fault(folder, *version, format!("is damaged in line {}", line + 1)))
    })
}

/// What is wrong with the latest checkpoint.
fn checkpoint(folder: &Path, listed: &Listed) -> Option<Fault> {
    let fault = |path: &Path, what: String, version: u64| {
        // Without a checkpoint the log is read from its first commit.
        let whole = (0..=version).all(|version| listed.commits.contains(&version));
        let remedy = "remove it and the file _last_checkpoint: the commits before it are all there".to_owned();
        Some(Fault { remedy: whole.then_some(remedy), ..Fault::new(path, what) })
    };
    let hint = log::last_checkpoint(folder).ok().flatten();
    if let Some(version) = hint.filter(|version| listed.checkpoint.as_ref().is_none_or(|(latest, _)| latest < version))
    {
        let path = log::checkpoint(folder, version);
        return fault(&path, of_file(&path, None).unwrap_or_else(|| "cannot be read".to_owned()), version);
    }
    let (version, files) = listed.checkpoint.as_ref()?;
    files.iter().find_map(|path| fault(path, of_file(path, None).or_else(|| of_contents(path))?, *version))
}

/// The first commit that is missing.
fn gap(folder: &Path, listed: &Listed) -> Option<Fault> {
    let first = listed.checkpoint.as_ref().map_or(0, |(version, _)| version + 1);
    let missing = (first..*listed.commits.last()?).find(|version| !listed.commits.contains(version))?;
    let remedy = missing
        .checked_sub(1)
        .map(|before| format!("remove all later commits to go back to version {before}, without what they changed"));
    Some(Fault { remedy, ..Fault::new(&log::commit(folder, missing), "is gone") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_lacks_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (folder.path(), log::log(folder.path()));
        std::fs::create_dir(&log).unwrap();
        let found = || of_log(path).map(|fault| fault.to_string()).unwrap_or_default();
        assert_eq!(found(), format!("'{}' holds no commit; restore it from a copy", log.display()));
        let commit = |version: u64, text: &str| std::fs::write(log::commit(path, version), text).unwrap();
        let added =
            "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}";
        commit(0, added);
        commit(1, &format!("{added}\n{{\"remove\":{{\"path\":\"a\",\"dataChange\":true}}}}"));
        commit(2, added);
        assert_eq!(found(), "");
        std::fs::remove_file(log::commit(path, 1)).unwrap();
        assert!(found().contains("00000000000000000001.json' is gone"), "{}", found());
        std::fs::remove_file(log::commit(path, 0)).unwrap();
        assert!(found().contains("00000000000000000000.json' is gone"), "{}", found());
        // A checkpoint takes their place, if it can be read.
        std::fs::write(log.join("_last_checkpoint"), "{\"version\":1,\"size\":3}").unwrap();
        assert!(
            found().contains("00000000000000000001.checkpoint.parquet' is gone; restore it from a copy"),
            "{}",
            found()
        );
        std::fs::write(log::checkpoint(path, 1), "no Parquet").unwrap();
        assert!(found().contains("00000000000000000001.checkpoint.parquet' is damaged"), "{}", found());
        commit(0, "{}");
        commit(1, "{}");
        assert!(found().contains("remove it and the file _last_checkpoint"), "{}", found());
        std::fs::remove_file(log::checkpoint(path, 1)).unwrap();
        std::fs::remove_file(log.join("_last_checkpoint")).unwrap();
        commit(1, "{}\n{\"add\":{\"path\":5}}");
        assert!(found().contains("00000000000000000001.json' is damaged in line 2"), "{}", found());
    }
}
