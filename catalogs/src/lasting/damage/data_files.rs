//! Data files that are gone, cut off or damaged.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use datafusion::common::DataFusionError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::origin::table_name;
use super::place::PlaceFault;
use super::unreadable::{plain, unreadable};
use super::version_before::{is_taken_out, version_before};
use crate::lasting::fast::log;
use crate::lasting::fault::Fault;

/// The error of a table whose data files these are, with the sizes that its log gives them; `None` if they are all right, or of
/// no table. Reads them, in the worst case whole.
pub(in crate::lasting) fn of_files(files: &[(PathBuf, u64)]) -> Option<DataFusionError> {
    let whole = |(path, size): &(PathBuf, u64)| of_file(path, Some(*size)).map(|what| Fault::new(path, what));
    let rows = |(path, _): &(PathBuf, u64)| of_contents(path).map(|what| Fault::new(path, what));
    let folder_of = |path: &Path| Some(path.ancestors().skip(1).find(|folder| log::log(folder).is_dir())?.to_owned());
    // Reading rows takes long: not those of other files.
    let files = || files.iter().filter(|(path, _)| folder_of(path).is_some());
    let mut fault = files().find_map(whole).or_else(|| files().find_map(rows))?;
    let folder = folder_of(&fault.path)?;
    let name = table_name(&folder);
    if fault.path.symlink_metadata().is_err() && is_taken_out(&folder, &fault.path) {
        let text = format!(
            "{name}: VACUUM removed '{}' while this statement read a version of the table that needs it; the table is whole: \
             run the statement again",
            fault.path.display()
        );
        return Some(DataFusionError::IoError(io::Error::new(io::ErrorKind::NotFound, text)));
    }
    if let Some(version) = version_before(&folder, &fault.path) {
        fault.remedy = Some(format!(
            "go back to the version before it was written: CREATE OR REPLACE TABLE {name} AS SELECT * FROM {name} VERSION \
             AS OF {version}"
        ));
    }
    Some(unreadable(&name, &folder, fault))
}

/// What is wrong with a file before its rows are read.
pub(super) fn of_file(path: &Path, size: Option<u64>) -> Option<String> {
    let data = match path.metadata() {
        Ok(data) => data,
        Err(error) => return Some(PlaceFault::of(path, &error).text().to_owned()),
    };
    if data.is_dir() {
        return Some("is a folder, where a file has to be".to_owned());
    }
    match size {
        _ if data.len() == 0 => Some("is empty".to_owned()),
        Some(size) if data.len() != size => {
            Some(format!("has {} bytes instead of {size}: it was cut off or replaced", data.len()))
        }
        _ => File::open(path).err().map(|error| format!("cannot be read: {error}")),
    }
}

/// What is wrong with the contents of a Parquet file.
pub(super) fn of_contents(path: &Path) -> Option<String> {
    // Some damage makes the package panic.
    match catch_unwind(AssertUnwindSafe(|| read(path))) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("is damaged: {}", plain(&error))),
        Err(_) => Some("is damaged".to_owned()),
    }
}

/// Reads a file to its end.
fn read(path: &Path) -> Result<(), ParquetError> {
    let rows = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.build()?;
    for batch in rows {
        batch?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};

    use super::*;
    use crate::lasting::fast::data_file::DataFile;

    #[test]
    fn the_file_that_is_damaged_is_found_with_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: ArrayRef = Arc::new((0..1000i64).map(|i| i * i % 997).collect::<Int64Array>());
        let rows = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let mut file = DataFile::create(folder.path(), &rows.schema(), BTreeSet::new()).unwrap();
        file.write(&rows).unwrap();
        let written = file.finish().unwrap();
        let (path, size) = (folder.path().join(&written.add.path), written.add.size as u64);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((of_file(&path, Some(size)), of_contents(&path)), (None, None));
        // It is no table's.
        assert!(of_files(&[(path.clone(), size + 1)]).is_none());
        std::fs::create_dir(folder.path().join("_delta_log")).unwrap();
        let error = |path: &Path| of_files(&[(path.to_owned(), size)]).unwrap().to_string();
        let mut damaged = bytes.clone();
        damaged[100..140].fill(0xAA);
        std::fs::write(&path, &damaged).unwrap();
        assert!(error(&path).contains(&format!("'{}' is damaged", path.display())), "{}", error(&path));
        std::fs::write(&path, &bytes[..100]).unwrap();
        let cut = format!("has 100 bytes instead of {size}: it was cut off or replaced; restore it from a copy");
        assert!(error(&path).ends_with(&cut), "{}", error(&path));
        std::fs::write(&path, "").unwrap();
        assert!(error(&path).contains("is empty"));
        std::fs::remove_file(&path).unwrap();
        assert!(error(&path).contains("is gone"));
        let commit = |version: u64, text: String| {
            std::fs::write(log::commit(folder.path(), version), text).unwrap();
        };
        commit(0, format!("{{\"add\":{{\"path\":\"{}\"}}}}", written.add.path));
        assert!(error(&path).contains("is gone"));
        commit(1, format!("{{\"remove\":{{\"path\":\"{}\"}}}}", written.add.path));
        assert!(error(&path).contains("VACUUM removed") && error(&path).ends_with("run the statement again"));
        std::fs::remove_dir_all(folder.path().join("_delta_log")).unwrap();
        std::fs::create_dir(folder.path().join("_delta_log")).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(error(&path).contains("is a folder"));
    }
}
