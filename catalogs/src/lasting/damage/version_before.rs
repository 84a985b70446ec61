//! What a log knows of a data file.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;

use crate::lasting::fast::log::{self, Listed};

/// A line of a commit, as far as it says which files there are.
#[derive(Deserialize)]
struct Line {
    add: Option<DataFile>,
    remove: Option<DataFile>,
}

#[derive(Deserialize)]
struct DataFile {
    path: String,
}

/// The version before a data file was written, if all of its files are there.
pub(super) fn version_before(folder: &Path, file: &Path) -> Option<u64> {
    let path = file.strip_prefix(folder).ok()?.to_str()?;
    let mut files = HashSet::new();
    // A log that begins with a checkpoint would take that as well.
    for version in 0..=*Listed::of(folder, u64::MAX).ok()?.commits.last()? {
        let text = std::fs::read(log::commit(folder, version)).ok()?;
        let lines =
            serde_json::Deserializer::from_slice(&text).into_iter::<Line>().collect::<Result<Vec<_>, _>>().ok()?;
        if lines.iter().any(|line| line.add.as_ref().is_some_and(|added| added.path == path)) {
            let there = files.iter().all(|file: &String| folder.join(file).is_file());
            return version.checked_sub(1).filter(|_| there);
        }
        for line in lines {
            files.extend(line.add.map(|added| added.path));
            if let Some(removed) = line.remove {
                files.remove(&removed.path);
            }
        }
    }
    None
}

/// Whether a later commit than the one that wrote a data file took it out of the table, so that VACUUM may have removed it.
pub(super) fn is_taken_out(folder: &Path, file: &Path) -> bool {
    let Some(path) = file.strip_prefix(folder).ok().and_then(Path::to_str) else { return false };
    let Ok(listed) = Listed::of(folder, u64::MAX) else { return false };
    for version in listed.commits.into_iter().rev() {
        let Ok(text) = std::fs::read(log::commit(folder, version)) else { return false };
        let lines = serde_json::Deserializer::from_slice(&text).into_iter::<Line>();
        let mut found = None;
        for line in lines.map_while(Result::ok) {
            let is_it = |file: &Option<DataFile>| file.as_ref().is_some_and(|file| file.path == path);
            if is_it(&line.add) {
                found = Some(false);
            } else if is_it(&line.remove) {
                found = Some(true);
            }
        }
        if let Some(taken_out) = found {
            return taken_out;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_before_a_file_is_named_if_it_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir(log::log(path)).unwrap();
        let commit = |version: u64, text: &str| std::fs::write(log::commit(path, version), text).unwrap();
        commit(0, "{\"add\":{\"path\":\"a.parquet\"}}");
        commit(1, "{\"add\":{\"path\":\"b.parquet\"}}\n{\"remove\":{\"path\":\"a.parquet\"}}");
        commit(2, "{\"add\":{\"path\":\"c.parquet\"}}");
        let before = |file: &str| version_before(path, &path.join(file));
        assert_eq!((before("a.parquet"), before("d.parquet"), before("c.parquet")), (None, None, None));
        std::fs::write(path.join("b.parquet"), "").unwrap();
        assert_eq!((before("b.parquet"), before("c.parquet")), (None, Some(1)));
        let taken_out = |file: &str| is_taken_out(path, &path.join(file));
        assert_eq!(["a.parquet", "b.parquet", "c.parquet", "d.parquet"].map(taken_out), [true, false, false, false]);
    }
}
