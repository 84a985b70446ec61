//! One Delta table as a folder: opening, creating, appending, committing.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use deltalake::datafile::writer::{DeltaWriter, WriterConfig};
use deltalake::delta_datafusion::DeltaScanConfig;
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::transaction::{CommitBuilder, CommitData, CommitProperties, TableReference, TransactionError};
use deltalake::kernel::{Action, Add, CommitInfo, LogicalFileView, Snapshot, StructType};
use deltalake::operations::get_num_idx_cols_and_stats_columns;
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::table::config::TablePropertiesExt;
use deltalake::{DeltaResult, DeltaTable, DeltaTableBuilder, DeltaTableError};
use futures::TryStreamExt;
use serde_json::Value;

use super::damage;
use super::fast::data_file::{self, DataFile, Written};
use super::fast::log::{self, Prepared, Since};
use super::fault::Fault;
use super::flushed_store::FlushedStore;
use super::types;
use crate::ground::blocking::blocking;

/// The retries of a commit after another process was faster. Every try checks that the two do not conflict.
const RETRIES: usize = 1000;

/// About how large a data file grows before the next one is started, in bytes.
const FILE_SIZE: NonZeroU64 = NonZeroU64::new(128 << 20).expect("a size");

/// The table in this folder as it is now.
pub(super) async fn open(folder: &Path, name: &str) -> Result<DeltaTable> {
    if let Some(error) = damage::without_log(name, folder) {
        return Err(error);
    }
    check(folder, name, u64::MAX).await?;
    match builder(folder)?.load().await {
        Ok(table) => Ok(table),
        Err(error) => Err(unread(folder, name, error).await),
    }
}

/// Refuses a log with a commit up to this version that is not as it was written.
pub(super) async fn check(folder: &Path, name: &str, version: u64) -> Result<()> {
    let path = folder.to_owned();
    blocking(move || log::check(&path, version)).await.map_err(|error| with_name(folder, name, error))
}

/// The error of a log that cannot be read: what is wrong with its files, where that can be found out.
pub(super) async fn unread(folder: &Path, name: &str, error: DeltaTableError) -> DataFusionError {
    let path = folder.to_owned();
    match blocking(move || Ok(damage::of_log(&path))).await {
        Ok(Some(fault)) => damage::unreadable(name, folder, fault),
        _ => exec_datafusion_err!(
            "{name} cannot be read: {}, in the log of '{}'",
            damage::plain(&error),
            folder.display()
        ),
    }
}

/// An error of the disk with the table's name, where it is of a damaged file.
pub(super) fn with_name(folder: &Path, name: &str, error: DataFusionError) -> DataFusionError {
    let fault = match &error {
        DataFusionError::IoError(io) => io.get_ref().and_then(|inner| inner.downcast_ref::<Fault>()),
        _ => None,
    };
    fault.map(|fault| damage::unreadable(name, folder, fault.clone())).unwrap_or(error)
}

fn builder(folder: &Path) -> Result<DeltaTableBuilder> {
    let path = folder
        .to_str()
        .ok_or_else(|| exec_datafusion_err!("'{}' is no path in UTF-8: move the database", folder.display()))?;
    let url = deltalake::ensure_table_uri(path).map_err(|error| failed(path, error))?;
    let builder = DeltaTableBuilder::from_url(url.clone()).map_err(|error| failed(path, error))?;
    Ok(builder.with_storage_backend(Arc::new(FlushedStore::default()), url))
}

/// The configuration of our scans: strings as TEXT, whatever the session prefers, so that a table has one schema.
pub(super) fn scan_config() -> DeltaScanConfig {
    DeltaScanConfig { schema_force_view_types: false, ..DeltaScanConfig::new().with_wrap_partition_values(false) }
}

/// Makes a table of these rows in an empty folder, in one commit. Its columns are those of `schema`, which
/// [`types::storable`] has made.
pub(super) async fn create(folder: &Path, name: &str, schema: &Schema, added: Vec<Add>) -> Result<DeltaTable> {
    let columns: StructType = schema.try_into_kernel().map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
    let table = builder(folder)?.build().map_err(|error| failed(name, error))?;
    table
        .create()
        .with_table_name(name)
        .with_columns(columns.fields().cloned())
        .with_commit_properties(properties(None, COLUMNS + added.len()))
        .with_actions(added.into_iter().map(Action::Add))
        .await
        .map_err(|error| failed(name, error))
}

/// The actions of a new table that say which columns and properties it has: its `metaData` and its `protocol`.
const COLUMNS: usize = 2;

/// What a commit of this many actions says of itself beside its operation.
fn own_info(actions: usize) -> [(String, Value); 2] {
    // With the `commitInfo` itself.
    [
        ("bonnetdb".to_owned(), Value::from(env!("CARGO_PKG_VERSION"))),
        (log::ACTIONS.to_owned(), Value::from(actions + 1)),
    ]
}

fn properties(predicate: Option<String>, actions: usize) -> CommitProperties {
    let mut metadata = Vec::from(own_info(actions));
    if let Some(predicate) = predicate {
        let parameters = serde_json::Map::from_iter([("predicate".to_owned(), Value::from(predicate))]);
        metadata.push(("operationParameters".to_owned(), Value::Object(parameters)));
    }
    // The history stays until VACUUM, for time travel.
    CommitProperties::default().with_max_retries(RETRIES).with_cleanup_expired_logs(Some(false)).with_metadata(metadata)
}

/// The operation of a commit, for the history.
pub(super) enum Operation {
    Append,
    Delete(Option<String>),
    Update(Option<String>),
}

/// Commits files that are written, and those that they replace. Other processes may commit at the same time: what does
/// not conflict is tried again on top of theirs.
pub(super) async fn commit(table: &DeltaTable, name: &str, actions: Vec<Action>, operation: Operation) -> Result<u64> {
    // A predicate would be parsed again where commits meet, by a parser that does not know our functions.
    let (operation, predicate) = match operation {
        Operation::Append => {
            (DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None }, None)
        }
        Operation::Delete(predicate) => (DeltaOperation::Delete { predicate: None }, predicate),
        Operation::Update(predicate) => (DeltaOperation::Update { predicate: None }, predicate),
    };
    let state = table.snapshot().map_err(|error| failed(name, error))?;
    let committed = CommitBuilder::from(properties(predicate, actions.len()))
        .with_actions(actions)
        .build(Some(state as &dyn TableReference), table.log_store(), operation)
        .into_prepared_commit_future()
        .await
        .map_err(|error| failed(name, error))?
        .await
        .map_err(|error| failed(name, error))?;
    let version = committed.version;
    // The rows are committed: a checkpoint that cannot be written only makes reading slower.
    let _ = committed.await;
    Ok(version)
}

/// Commits actions as the version after the table's, and only as that; `false` where another commit is that version.
pub(super) async fn commit_next(table: &DeltaTable, name: &str, actions: Vec<Action>, operation: &str) -> Result<bool> {
    let (folder, last) = (folder(table)?, table.version().unwrap_or_default());
    let info = HashMap::from(own_info(actions.len()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let said = CommitInfo { timestamp: Some(now as i64), operation: Some(operation.to_owned()), ..Default::default() };
    let actions = std::iter::once(Action::CommitInfo(said)).chain(actions).collect();
    let data = CommitData::new(actions, DeltaOperation::Update { predicate: None }, info, Vec::new());
    let bytes = data.get_bytes().map_err(|error| failed(name, error.into()))?;
    let committed = blocking(move || {
        let prepared = Prepared::new(&folder, &bytes)?;
        prepared.sync()?;
        prepared.put(last + 1)
    });
    committed.await.map_err(|error| failed(name, as_delta_error(error)))
}

/// Whether a commit that only adds rows conflicts with no other: no property of the table has to be maintained with each
/// commit. Tables of ours are like that; another program may have given one properties that are not.
pub(super) fn appends_alone(table: &DeltaTable, name: &str) -> Result<bool> {
    let state = table.snapshot().map_err(|error| failed(name, error))?;
    let protocol = state.protocol();
    let harmless = |feature: &str| ["appendOnly", "invariants", "timestampNtz"].contains(&feature);
    Ok(match protocol.writer_features() {
        Some(features) => features.iter().all(|feature| harmless(feature.as_ref())),
        None => protocol.min_writer_version() <= 2,
    })
}

/// Whether a checkpoint is due at this version: by the table's interval, by default every hundredth.
pub(super) fn wants_checkpoint(table: &DeltaTable, version: u64) -> bool {
    let interval = table.snapshot().map(|state| state.config().checkpoint_interval().get());
    interval.is_ok_and(|interval| (version + 1).is_multiple_of(interval))
}

/// Writes the checkpoint of a version of the table in this folder, in two readings of the log: for the columns and
/// properties, and for what is written. The library's `create_checkpoint` reads as often, but for a table that is loaded
/// with its files, which takes two more; and on a thread of the runtime, which hands its work over at every file.
pub(super) async fn checkpoint(folder: &Path, version: u64) -> Result<()> {
    let name = folder.display().to_string();
    let log_store = builder(folder)?.build_storage().map_err(|error| failed(&name, error))?;
    let snapshot = Snapshot::try_new(log_store.as_ref(), Some(version)).await.map_err(|error| failed(&name, error))?;
    // The library shows the kernel's snapshot, which has checkpoints, by way of a scan alone; that reads nothing.
    let snapshot = snapshot.into_scan_builder().build().map(|scan| Arc::clone(scan.snapshot()));
    let (snapshot, engine) = (snapshot.map_err(|error| failed(&name, error))?, log_store.engine(None));
    let written =
        blocking(move || snapshot.checkpoint(engine.as_ref(), None).map(drop).map_err(io::Error::other)).await;
    written.map_err(|error| failed(&name, as_delta_error(error)))
}

/// Commits files with new rows to the table in this folder, after the version `last` and whatever other processes commit
/// at the same time, unless that changes more than rows.
pub(super) async fn append(folder: &Path, name: &str, last: u64, written: Vec<Written>) -> Result<u64> {
    let operation = DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None };
    let (added, files): (Vec<Action>, Vec<File>) =
        written.into_iter().map(|Written { add, file }| (Action::Add(add), file)).unzip();
    let info = HashMap::from(own_info(added.len()));
    let data = CommitData::new(added, operation, info, Vec::new());
    let bytes = data.get_bytes().map_err(|error| failed(name, error.into()))?;
    let place = folder.to_owned();
    let committed = blocking(move || {
        // The commit goes to the disk together with the files that it names, so that one flush of the disk serves them
        // all, and under its number after them.
        let prepared = Prepared::new(&place, &bytes)?;
        std::thread::scope(|scope| {
            let files = scope.spawn(|| sync_files(&place, &files));
            prepared.sync()?;
            files.join().map_err(|_| io::Error::other("a thread failed"))?
        })?;
        let mut last = last;
        for _ in 0..RETRIES {
            if prepared.put(last + 1)? {
                return Ok(Some(last + 1));
            }
            match log::since(&place, last)? {
                Since::Rows(version) => last = version,
                Since::More => return Ok(None),
            }
        }
        Ok(None)
    });
    let committed = committed.await.map_err(|error| match with_name(folder, name, error) {
        DataFusionError::IoError(error) if error.kind() == io::ErrorKind::InvalidData => {
            DataFusionError::IoError(error)
        }
        error => failed(name, as_delta_error(error)),
    })?;
    committed.ok_or_else(|| {
        exec_datafusion_err!(
            "another statement changed {name} while this one ran; nothing of this one was kept: run it again"
        )
    })
}

/// An error of the disk as one of Delta's, so that [`failed`] words them all.
fn as_delta_error(error: DataFusionError) -> DeltaTableError {
    match error {
        DataFusionError::IoError(source) => DeltaTableError::Io { source },
        other => DeltaTableError::Generic(other.to_string()),
    }
}

/// The files of a table that is loaded with them.
pub(super) async fn files(table: &DeltaTable, name: &str) -> Result<Vec<LogicalFileView>> {
    let snapshot = table.snapshot().map_err(|error| failed(name, error))?.snapshot();
    snapshot.file_views(&table.log_store(), None).try_collect().await.map_err(|error| failed(name, error))
}

/// The local folder of a table.
pub(super) fn folder(table: &DeltaTable) -> Result<PathBuf> {
    let url = table.table_url();
    url.to_file_path().map_err(|()| exec_datafusion_err!("{url} is no folder of this machine"))
}

/// Puts data files on the disk, before a commit names them.
fn sync_files(folder: &Path, files: &[File]) -> io::Result<()> {
    files.iter().try_for_each(File::sync_all)?;
    super::entry::sync_folder(folder)
}

/// Puts data files on the disk; what a commit says of them.
pub(super) async fn synced(folder: &Path, written: Vec<Written>) -> Result<Vec<Add>> {
    let (added, files): (Vec<Add>, Vec<File>) = written.into_iter().map(|it| (it.add, it.file)).unzip();
    let folder = folder.to_owned();
    blocking(move || sync_files(&folder, &files)).await?;
    Ok(added)
}

/// Writes rows into new files of a table, which belong to it once they are committed.
pub(super) struct Appender {
    folder: PathBuf,
    schema: SchemaRef,
    writer: Writer,
    written: Vec<Written>,
    name: String,
    /// The rows of the files that are not yet taken.
    pub(super) rows: u64,
}

enum Writer {
    /// One file after the other, each in the table's folder.
    Plain(Option<Box<DataFile>>),
    /// Files by the values of columns, as another program wants them.
    Parts(Box<DeltaWriter>, Box<WriterConfig>, Arc<dyn deltalake::ObjectStore>),
}

impl Appender {
    /// A writer for a folder, which need not hold a table yet; rows are cast to this schema.
    pub(super) fn new(folder: &Path, name: &str, schema: &SchemaRef, partitions: &[String]) -> Result<Self> {
        let writer = if partitions.is_empty() {
            Writer::Plain(None)
        } else {
            let table = builder(folder)?.build().map_err(|error| failed(name, error))?;
            let (indexed, columns) = get_num_idx_cols_and_stats_columns(None, HashMap::new());
            let (schema, parts) = (Arc::clone(schema), partitions.to_vec());
            let config = WriterConfig::new(schema, parts, None, Some(FILE_SIZE), None, indexed, columns);
            let store = table.object_store();
            Writer::Parts(Box::new(DeltaWriter::new(Arc::clone(&store), config.clone())), Box::new(config), store)
        };
        let (folder, schema, written) = (folder.to_owned(), Arc::clone(schema), Vec::new());
        Ok(Self { folder, schema, writer, written, name: name.to_owned(), rows: 0 })
    }

    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = types::stored(batch, &self.schema)?;
        let done = match &mut self.writer {
            Writer::Plain(file) => Self::write_plain(file, &self.folder, &mut self.written, &batch),
            Writer::Parts(writer, ..) => writer.write(&batch).await,
        };
        done.map_err(|error| failed(&self.name, error))?;
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    fn write_plain(
        open: &mut Option<Box<DataFile>>,
        folder: &Path,
        written: &mut Vec<Written>,
        batch: &RecordBatch,
    ) -> DeltaResult<()> {
        let mut with_nan = data_file::with_nan(batch);
        let mut file = match open.take() {
            Some(file) if with_nan.is_subset(&file.with_nan) => file,
            before => {
                if let Some(file) = before {
                    with_nan.extend(file.with_nan.iter().cloned());
                    written.push(file.finish()?);
                }
                Box::new(DataFile::create(folder, batch.schema_ref(), with_nan)?)
            }
        };
        if file.write(batch)? < FILE_SIZE.get() {
            *open = Some(file);
        } else {
            written.push(file.finish()?);
        }
        Ok(())
    }

    /// Closes the files, which are not yet on the disk; none where no rows came.
    pub(super) async fn take(&mut self) -> Result<Vec<Written>> {
        self.rows = 0;
        let done = match &mut self.writer {
            Writer::Plain(file) => file.take().map(|file| file.finish()).into_iter().collect(),
            Writer::Parts(writer, config, store) => {
                let next = DeltaWriter::new(Arc::clone(store), config.as_ref().clone());
                let added = std::mem::replace(&mut **writer, next).close().await;
                added.and_then(|added| {
                    let open = |add: Add| Ok(Written { file: File::open(self.folder.join(&add.path))?, add });
                    added.into_iter().map(open).collect()
                })
            }
        };
        let mut written = std::mem::take(&mut self.written);
        let last: Vec<Written> = done.map_err(|error| failed(&self.name, error))?;
        written.extend(last);
        Ok(written)
    }
}

/// A Delta error as one of a statement: it names the table, and says what to do where that is known.
pub(super) fn failed(name: &str, error: DeltaTableError) -> DataFusionError {
    if let DeltaTableError::Transaction { source: TransactionError::CommitConflict(conflict) } = &error {
        return exec_datafusion_err!(
            "another statement changed {name} while this one ran ({conflict}); nothing of this one was kept: run it again"
        );
    }
    if let Some(kind) = io_kind(&error) {
        use io::ErrorKind as K;
        let advice = match kind {
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => {
                Some("the disk is full; nothing of this statement was kept: free space and run it again")
            }
            K::PermissionDenied | K::ReadOnlyFilesystem => {
                Some("its folder cannot be written: make it writable, or work on a copy")
            }
            _ => None,
        };
        let text = damage::plain(&error);
        let text = advice.map_or_else(|| format!("{name}: {text}"), |advice| format!("{name}: {advice} ({text})"));
        return Raised::new(ErrorKind::Files, text).into();
    }
    exec_datafusion_err!("{name}: {}", damage::plain(&error))
}

/// The operating system's error beneath another.
fn io_kind(error: &DeltaTableError) -> Option<io::ErrorKind> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            match error.get_ref() {
                // An error wrapped as `io::Error`.
                Some(inner) => {
                    next = Some(inner);
                    continue;
                }
                None => return Some(error.kind()),
            }
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_checkpoint_takes_the_place_of_the_commits_before() {
        let folder = tempfile::tempdir().unwrap();
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let rows = RecordBatch::try_from_iter([("key", keys)]).unwrap();
        create(folder.path(), "t", &rows.schema(), Vec::new()).await.unwrap();
        for last in 0..3 {
            let mut files = Appender::new(folder.path(), "t", &rows.schema(), &[]).unwrap();
            files.write(&rows).await.unwrap();
            append(folder.path(), "t", last, files.take().await.unwrap()).await.unwrap();
        }
        assert!(checkpoint(folder.path(), 4).await.is_err());
        checkpoint(folder.path(), 2).await.unwrap();
        let hint = std::fs::read_to_string(log::log(folder.path()).join("_last_checkpoint")).unwrap();
        assert!(hint.contains("\"version\":2,") && hint.contains("\"numOfAddFiles\":2"), "{hint}");
        for version in 0..=2 {
            std::fs::remove_file(log::commit(folder.path(), version)).unwrap();
        }
        let table = open(folder.path(), "t").await.unwrap();
        let files = table.snapshot().unwrap().log_data();
        assert_eq!((table.version(), files.num_files()), (Some(3), 3));
        let rows: Option<usize> = files.iter().map(|file| file.num_records()).sum();
        assert_eq!(rows, Some(6));
    }
}
