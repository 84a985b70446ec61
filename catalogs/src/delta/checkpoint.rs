//! The log's next checkpoint from the one before.
//!
//! A checkpoint has all that stands in the log up to a version, a row an action. (Delta Transaction Log Protocol,
//! "Checkpoints".) Where the commits since the last one only add files, it is that one with their lines added: nothing has
//! to be worked out anew. Costs the reading and writing of the checkpoint, and the reading of those commits.

use std::fs::File;
use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::json::ReaderBuilder;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{entry, log};

/// A line of a commit that adds a file, or says something about the commit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    add: Option<IgnoredAny>,
    commit_info: Option<IgnoredAny>,
}

/// Makes the checkpoint of a version of the table in this folder from the last one; `false` where that cannot be done.
pub(super) fn extend(folder: &Path, version: u64) -> io::Result<bool> {
    let last = match log::last_checkpoint(folder)? {
        Some(last) if last.is_classic() => last.version,
        _ => return Ok(false),
    };
    if last >= version {
        return Ok(true);
    }
    let mut added = Vec::new();
    let mut count = 0;
    for commit in last + 1..=version {
        for line in log::lines(&std::fs::read(log::commit(folder, commit))?) {
            match serde_json::from_slice(line) {
                Ok(Line { add: Some(_), commit_info: None }) => {
                    added.extend_from_slice(line);
                    added.push(b'\n');
                    count += 1;
                }
                Ok(Line { add: None, commit_info: Some(_) }) => {}
                _ => return Ok(false),
            }
        }
    }
    let log = log::log(folder);
    let unfinished = log::unfinished(&log);
    let written = write(&log.join(name(last)), &unfinished, added);
    let put = |(rows, adds): (usize, usize)| {
        let size = unfinished.metadata()?.len();
        std::fs::rename(&unfinished, log.join(name(version)))?;
        entry::write(
            &log.join("_last_checkpoint"),
            &serde_json::json!({ "version": version, "size": rows, "sizeInBytes": size, "numOfAddFiles": adds }),
        )
    };
    let done = match written {
        Ok(Some((rows, adds, new))) if new == count => put((rows, adds)).map(|()| true),
        // Another program's checkpoint, or lines that do not fit it.
        Ok(_) => Ok(false),
        Err(error) => Err(error),
    };
    if !matches!(done, Ok(true)) {
        let _ = std::fs::remove_file(&unfinished);
    }
    done
}

fn name(version: u64) -> String {
    format!("{version:020}.checkpoint.parquet")
}

/// Writes the rows of a checkpoint and after them these lines: all rows, those that are files, and how many of all were
/// lines. `None` where the checkpoint is not a whole one.
fn write(from: &Path, to: &Path, added: Vec<u8>) -> io::Result<Option<(usize, usize, usize)>> {
    let before = ParquetRecordBatchReaderBuilder::try_new(File::open(from)?).map_err(io::Error::other)?;
    let schema = Arc::clone(before.schema());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = File::create_new(to)?;
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(io::Error::other)?;
    let (mut rows, mut files, mut lines) = (0, 0, 0);
    let mut put = |batch: &RecordBatch| {
        rows += batch.num_rows();
        let Some(adds) = batch.column_by_name("add") else { return Ok(false) };
        files += adds.len() - adds.null_count();
        // A part of what it says stands in other files.
        if batch.column_by_name("sidecar").is_some_and(|sidecars| sidecars.null_count() < sidecars.len()) {
            return Ok(false);
        }
        writer.write(batch).map(|()| true).map_err(io::Error::other)
    };
    for batch in before.build().map_err(io::Error::other)? {
        if !put(&batch.map_err(io::Error::other)?)? {
            return Ok(None);
        }
    }
    // Fields that the checkpoint has no column for are not lost.
    let decoder =
        ReaderBuilder::new(schema).with_strict_mode(true).build(Cursor::new(added)).map_err(io::Error::other)?;
    for batch in decoder {
        let Ok(batch) = batch else { return Ok(None) };
        lines += batch.num_rows();
        if !put(&batch)? {
            return Ok(None);
        }
    }
    writer.finish().map_err(io::Error::other)?;
    writer.inner().sync_all()?;
    Ok(Some((rows, files, lines)))
}
