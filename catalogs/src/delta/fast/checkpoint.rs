//! The log's next checkpoint from the one before.
//!
//! A checkpoint has all that stands in the log up to a version, a row an action. (Delta Transaction Log Protocol,
//! "Checkpoints" and "Checkpoint Schema".) Where the commits since the last one only add files, it is that one with their
//! lines added, and the first one just the lines: nothing has to be worked out anew. Costs the reading and writing of the
//! checkpoint, and the reading of those commits.

use std::fs::File;
use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::json::ReaderBuilder;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::log;
use crate::delta::entry;

/// A line of a commit that adds a file, says something about the commit, or makes the table.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    add: Option<IgnoredAny>,
    commit_info: Option<IgnoredAny>,
    protocol: Option<IgnoredAny>,
    meta_data: Option<IgnoredAny>,
}

impl Line {
    /// Whether a checkpoint has it as it stands in this commit; `None` where it takes more to know.
    fn is_kept(&self, commit: u64) -> Option<bool> {
        match (&self.add, &self.commit_info, &self.protocol, &self.meta_data) {
            (Some(_), None, None, None) => Some(true),
            (None, Some(_), None, None) => Some(false),
            // Later ones would take the place of these.
            (None, None, Some(_), None) | (None, None, None, Some(_)) if commit == 0 => Some(true),
            _ => None,
        }
    }
}

/// Makes the checkpoint of a version of the table in this folder from the last one; `false` where that cannot be done.
pub(in crate::delta) fn extend(folder: &Path, version: u64) -> io::Result<bool> {
    let last = match log::last_checkpoint(folder)? {
        Some(last) if last.is_classic() => Some(last.version),
        Some(_) => return Ok(false),
        None => None,
    };
    if last.is_some_and(|last| last >= version) {
        return Ok(true);
    }
    let mut added = Vec::new();
    let mut count = 0;
    for commit in last.map_or(0, |last| last + 1)..=version {
        for line in log::lines(&std::fs::read(log::commit(folder, commit))?) {
            match serde_json::from_slice::<Line>(line).ok().and_then(|line| line.is_kept(commit)) {
                Some(true) => {
                    added.extend_from_slice(line);
                    added.push(b'\n');
                    count += 1;
                }
                Some(false) => {}
                None => return Ok(false),
            }
        }
    }
    let log = log::log(folder);
    let unfinished = log::unfinished(&log);
    let last = last.map(|last| log.join(name(last)));
    let written = write(last.as_deref(), &unfinished, added);
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
fn write(from: Option<&Path>, to: &Path, added: Vec<u8>) -> io::Result<Option<(usize, usize, usize)>> {
    let open = |from| ParquetRecordBatchReaderBuilder::try_new(File::open(from)?).map_err(io::Error::other);
    let before = from.map(open).transpose()?;
    let schema = before.as_ref().map_or_else(schema, |before| Arc::clone(before.schema()));
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
    if let Some(before) = before {
        for batch in before.build().map_err(io::Error::other)? {
            if !put(&batch.map_err(io::Error::other)?)? {
                return Ok(None);
            }
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

/// The columns of a checkpoint.
fn schema() -> SchemaRef {
    use DataType as T;
    let must = |name: &str, data_type: T| Field::new(name, data_type, false);
    let may = |name: &str, data_type: T| Field::new(name, data_type, true);
    let map = |name: &str, nullable: bool, value: bool| {
        let pair = vec![must("key", T::Utf8), Field::new("value", T::Utf8, value)];
        Field::new(name, T::Map(Arc::new(must("key_value", T::Struct(pair.into()))), false), nullable)
    };
    let list = |name: &str, nullable: bool| Field::new(name, T::List(Arc::new(must("element", T::Utf8))), nullable);
    let action = |name: &str, fields: Vec<Field>| may(name, T::Struct(fields.into()));
    let vector = vec![
        must("storageType", T::Utf8),
        must("pathOrInlineDv", T::Utf8),
        may("offset", T::Int32),
        must("sizeInBytes", T::Int32),
        must("cardinality", T::Int64),
    ];
    let vector = || action("deletionVector", vector.clone());
    let rows = [may("baseRowId", T::Int64), may("defaultRowCommitVersion", T::Int64)];
    let mut add = vec![
        must("path", T::Utf8),
        map("partitionValues", false, true),
        must("size", T::Int64),
        must("modificationTime", T::Int64),
        must("dataChange", T::Boolean),
        may("stats", T::Utf8),
        map("tags", true, true),
        vector(),
    ];
    add.extend(rows.clone());
    add.push(may("clusteringProvider", T::Utf8));
    let mut remove = vec![
        must("path", T::Utf8),
        may("deletionTimestamp", T::Int64),
        must("dataChange", T::Boolean),
        may("extendedFileMetadata", T::Boolean),
        map("partitionValues", true, true),
        may("size", T::Int64),
        may("stats", T::Utf8),
        map("tags", true, true),
        vector(),
    ];
    remove.extend(rows);
    let format = vec![must("provider", T::Utf8), map("options", false, false)];
    let metadata = vec![
        must("id", T::Utf8),
        may("name", T::Utf8),
        may("description", T::Utf8),
        must("format", T::Struct(format.into())),
        must("schemaString", T::Utf8),
        list("partitionColumns", false),
        may("createdTime", T::Int64),
        map("configuration", false, false),
    ];
    let protocol = vec![
        must("minReaderVersion", T::Int32),
        must("minWriterVersion", T::Int32),
        list("readerFeatures", true),
        list("writerFeatures", true),
    ];
    let transaction = vec![must("appId", T::Utf8), must("version", T::Int64), may("lastUpdated", T::Int64)];
    Arc::new(Schema::new(vec![
        action("add", add),
        action("remove", remove),
        action("metaData", metadata),
        action("protocol", protocol),
        action("txn", transaction),
    ]))
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;

    use super::*;

    const MADE: &str = concat!(
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n",
        "{\"metaData\":{\"id\":\"7\",\"name\":\"t\",\"description\":null,\"format\":{\"provider\":\"parquet\",",
        "\"options\":{}},\"schemaString\":\"{}\",\"partitionColumns\":[],\"createdTime\":1,\"configuration\":{}}}\n",
        "{\"commitInfo\":{}}"
    );

    fn add(name: &str) -> String {
        format!(
            "{{\"add\":{{\"path\":\"{name}\",\"partitionValues\":{{}},\"size\":3,\"modificationTime\":4,\"dataChange\":true,\
             \"stats\":\"{{}}\",\"tags\":null}}}}\n{{\"commitInfo\":{{\"x\":[]}}}}\n"
        )
    }

    fn table(commits: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(log::log(folder.path())).unwrap();
        for (version, commit) in commits.iter().enumerate() {
            std::fs::write(log::commit(folder.path(), version as u64), commit).unwrap();
        }
        folder
    }

    fn rows(folder: &Path, version: u64) -> Vec<RecordBatch> {
        let file = File::open(log::log(folder).join(name(version))).unwrap();
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap).collect()
    }

    fn files(folder: &Path, version: u64) -> Vec<String> {
        let mut found = Vec::new();
        for batch in rows(folder, version) {
            let adds = batch.column_by_name("add").unwrap().as_struct();
            let paths = adds.column_by_name("path").unwrap().as_string::<i32>();
            found.extend((0..adds.len()).filter(|row| adds.is_valid(*row)).map(|row| paths.value(row).to_owned()));
        }
        found
    }

    #[test]
    fn files_are_added_to_the_checkpoint_before() {
        let (a, b, c) = (add("a"), add("b"), add("c"));
        let folder = table(&[MADE, &a, &b, &c]);
        assert!(extend(folder.path(), 1).unwrap());
        assert_eq!(files(folder.path(), 1), ["a"]);
        assert!(extend(folder.path(), 3).unwrap());
        assert_eq!(files(folder.path(), 3), ["a", "b", "c"]);
        assert_eq!(rows(folder.path(), 3).iter().map(RecordBatch::num_rows).sum::<usize>(), 5);
        assert_eq!(log::last_checkpoint(folder.path()).unwrap().unwrap().version, 3);
        // Nothing unfinished stays behind: four commits, two checkpoints, and which is the last.
        assert_eq!(std::fs::read_dir(log::log(folder.path())).unwrap().count(), 7);
        // What is there is not made again.
        assert!(extend(folder.path(), 2).unwrap() && !log::log(folder.path()).join(name(2)).exists());
    }

    #[test]
    fn what_does_more_than_add_files_is_left_to_others() {
        let a = add("a");
        let odd = a.replace("\"tags\"", "\"never heard of\"");
        for other in ["{\"remove\":{\"path\":\"a\",\"dataChange\":true}}", MADE, "{\"txn\":{}}", "no JSON", &odd] {
            let folder = table(&[MADE, &a, other]);
            assert!(!extend(folder.path(), 2).unwrap(), "{other}");
            assert_eq!(std::fs::read_dir(log::log(folder.path())).unwrap().count(), 3, "{other}");
        }
        // A commit that is gone.
        assert!(extend(table(&[MADE]).path(), 1).is_err());
    }
}
