//! `COPY ... TO`: the rows are written aside, in a folder beside the target, and take its place once all of them are
//! written. A statement that fails or is stopped leaves what was there, and nothing of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use bonnet_catalogs::{NULL_KEY, Upload, counted};
use bonnet_sql::outside_databases;
use datafusion::common::Column;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion::datasource::source_as_provider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::dml::CopyTo;
use datafusion::logical_expr::{DmlStatement, Expr, LogicalPlan, LogicalPlanBuilder, cast, lit, when};
use futures::TryStreamExt;

use super::unique_names;
use crate::query::stream;
use crate::{Error, ErrorKind, Raised, Result};

/// The attempts to remove a folder that a writer still fills, and the pause between them.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Folders of running statements.
static ASIDE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what running COPY statements of this process have written aside. For a program that is about to end without
/// waiting for them.
pub fn abandon() {
    let folders = std::mem::take(&mut *ASIDE.lock().unwrap_or_else(PoisonError::into_inner));
    folders.iter().for_each(|folder| remove(folder));
}

/// Runs COPY and answers the number of rows.
///
/// # Errors
/// If the target is no place for rows, the query fails, or its rows cannot be written.
pub(super) async fn run(state: SessionState, mut copy: CopyTo) -> Result<u64> {
    unique_names::check("COPY", copy.input.schema())?;
    check_types(&copy)?;
    copy.input = Arc::new(with_keys(&copy)?);
    let Some(path) = local(&copy.output_url)? else {
        return to_address(state, copy).await;
    };
    // COPY to a name without an extension writes a file of that name, where DataFusion would make a folder. A folder is
    // made where the name ends like one, or where the rows are partitioned.
    let folder = !copy.partition_by.is_empty() || copy.output_url.ends_with(['/', '\\']);
    if !folder {
        copy.options.insert("single_file_output".to_owned(), "true".to_owned());
    }
    if !copy.partition_by.is_empty() && copy.partition_by.len() >= copy.input.schema().fields().len() {
        return Err(Error::statement("COPY: PARTITION_BY names every column, and the files have none: leave one out"));
    }
    let target = CopyTarget::new(&path, folder)?;
    let aside = Aside::new(&target)?;
    copy.output_url = url(&aside.rows, folder);
    let url = copy.output_url.clone();
    let count = rows(state, copy).await.map_err(|error| own_words(error, &target, &aside, &url))?;
    let done = SpawnedTask::spawn_blocking(move || {
        let placed = if folder { target.place_folder(&aside.rows) } else { target.place_file(&aside.rows) };
        placed.map_err(|error| target.error(&error))
    });
    done.await.map_err(|error| Error::statement(format!("COPY was ended from outside: {error}")))??;
    Ok(count)
}

/// Runs COPY to the address of a file of another machine: the rows are written here, and sent once all of them are.
async fn to_address(state: SessionState, mut copy: CopyTo) -> Result<u64> {
    if !copy.partition_by.is_empty() || copy.output_url.ends_with('/') {
        return Err(Error::statement(
            "COPY writes one file to an address: COPY the partitions to a folder of this machine, and upload that",
        ));
    }
    let upload = Upload::to(&copy.output_url)?;
    copy.options.insert("single_file_output".to_owned(), "true".to_owned());
    let runtime = Arc::clone(state.runtime_env());
    let folder = runtime.disk_manager.temp_dir_paths().first().cloned().unwrap_or_else(std::env::temp_dir);
    let mut target = CopyTarget::new(&folder.join(upload.name()), false)?;
    target.shown = upload.shown();
    let aside = Aside::new(&target)?;
    copy.output_url = url(&aside.rows, false);
    let url = copy.output_url.clone();
    let count = rows(state, copy).await.map_err(|error| own_words(error, &target, &aside, &url))?;
    upload.put(&aside.rows, &runtime.memory_pool).await?;
    Ok(count)
}

/// Refuses values that the files cannot keep.
fn check_types(copy: &CopyTo) -> Result<()> {
    if copy.file_type.get_ext() != "parquet" {
        return Ok(());
    }
    let is_key = |name: &String| copy.partition_by.contains(name);
    match copy.input.schema().fields().iter().find(|it| has_interval(it.data_type()) && !is_key(it.name())) {
        Some(field) => Err(Error::statement(format!(
            "COPY to parquet: the column \"{}\" has an INTERVAL, of which Parquet files keep no months beside hours: cast it, \
             {0}::text, or write Arrow",
            field.name()
        ))),
        None => Ok(()),
    }
}

fn has_interval(data_type: &DataType) -> bool {
    match data_type {
        DataType::Interval(_) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_interval(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_interval(field.data_type())),
        _ => false,
    }
}

/// The rows with the keys of PARTITION_BY as the names of folders have them. DataFusion 55 writes NULL as 0, as an empty string or
/// as false, among the rows with that key, and takes few types.
fn with_keys(copy: &CopyTo) -> Result<LogicalPlan> {
    let input = copy.input.as_ref().clone();
    if copy.partition_by.is_empty() {
        return Ok(input);
    }
    let columns = input.schema().iter().map(|(qualifier, field)| {
        let column = Expr::Column(Column::from((qualifier, field)));
        if !copy.partition_by.contains(field.name()) {
            return Ok::<_, Error>(column);
        }
        let text = cast(column.clone(), DataType::Utf8);
        let key = when(column.is_null(), lit(NULL_KEY)).otherwise(text)?;
        Ok(key.alias(field.name()))
    });
    let columns = columns.collect::<Result<Vec<Expr>>>()?;
    Ok(LogicalPlanBuilder::from(input).project(columns)?.build()?)
}

async fn rows(state: SessionState, copy: CopyTo) -> Result<u64> {
    let batches: Vec<RecordBatch> = stream(state, &LogicalPlan::Copy(copy)).await?.try_collect().await?;
    Ok(counted(&batches))
}

/// The path of a target on this machine; `None` for what lies elsewhere.
fn local(target: &str) -> Result<Option<PathBuf>> {
    match target.split_once("://") {
        Some(("file", _)) => Ok(Some(Path::new("/").join(ListingTableUrl::parse(target)?.prefix().as_ref()))),
        Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) => Ok(None),
        _ => Ok(Some(std::path::absolute(target)?)),
    }
}

/// A path as a URL: read as a path, some characters would be wildcards.
fn url(path: &Path, folder: bool) -> String {
    let mut url = "file://".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => url.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => url.push(byte.into()),
            _ => url += &format!("%{byte:02X}"),
        }
    }
    if folder { url + "/" } else { url }
}

/// Refuses an INSERT that would write a file into the folder of a database or of a Delta table.
///
/// # Errors
/// If it would.
pub(super) fn check_target(insert: &DmlStatement) -> Result<()> {
    let table = source_as_provider(&insert.target)?;
    let Some(files) = table.downcast_ref::<ListingTable>() else { return Ok(()) };
    for url in files.table_paths() {
        if url.scheme() == "file" {
            let path = Path::new("/").join(url.prefix().as_ref());
            outside_databases(&path)
                .map_err(|what| Error::statement(format!("INSERT INTO {} is refused: {what}", insert.table_name)))?;
        }
    }
    Ok(())
}

/// The target of a COPY.
struct CopyTarget {
    /// As it was written, for errors.
    shown: String,
    /// Behind all symbolic links.
    path: PathBuf,
    /// The folder that holds it.
    parent: PathBuf,
}

impl CopyTarget {
    fn new(path: &Path, folder: bool) -> Result<Self> {
        let shown = path.display().to_string();
        let refuse = |what: &str| Err(Error::statement(format!("COPY cannot write '{shown}': {what}")));
        let Ok(path) = behind_links(path) else { return refuse("its symbolic links lead in a circle") };
        let (Some(parent), Some(_)) = (path.parent(), path.file_name()) else {
            return refuse("the name of a file is missing");
        };
        match fs::metadata(&*shown) {
            Ok(found) if found.is_dir() && !folder => return refuse("it is a folder; give the name of a file in it"),
            Ok(found) if found.is_file() && folder => return refuse("it is a file, and partitions need a folder"),
            Ok(found) if !found.is_dir() && !found.is_file() => {
                return refuse("it is a device, a pipe or a socket; COPY writes files");
            }
            _ => {}
        }
        let parent = parent.to_owned();
        let target = Self { shown, path, parent };
        outside_databases(&target.path)
            .map_err(|what| Error::statement(format!("COPY cannot write '{}': {what}", target.shown)))?;
        Ok(target)
    }

    fn error(&self, error: &io::Error) -> Error {
        let text = format!("COPY cannot write '{}': {error}; nothing was changed", self.shown);
        Raised::new(ErrorKind::Files, text).into()
    }

    /// Puts a written file in the target's place, with the mode and the owner of what was there.
    fn place_file(&self, written: &Path) -> io::Result<()> {
        if let Ok(before) = fs::metadata(&self.path) {
            own(written, &before);
            fs::set_permissions(written, before.permissions())?;
        }
        fs::File::open(written)?.sync_all()?;
        fs::rename(written, &self.path)?;
        sync_folder(&self.parent);
        Ok(())
    }

    /// Puts a written folder in the target's place, or its files into the folder that is there.
    fn place_folder(&self, written: &Path) -> io::Result<()> {
        if !written.exists() {
            // No rows, no files.
            return fs::create_dir_all(&self.path);
        }
        if fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none()) {
            fs::remove_dir(&self.path)?;
        }
        if !self.path.exists() {
            fs::rename(written, &self.path)?;
        } else {
            merge(written, &self.path)?;
        }
        sync_folder(&self.parent);
        Ok(())
    }
}

/// The path that a chain of symbolic links ends at, whether a file is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Moves the files of one folder into another.
fn merge(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let there = to.join(entry.file_name());
        if entry.file_type()?.is_dir() { merge(&entry.path(), &there)? } else { fs::rename(entry.path(), there)? }
    }
    Ok(())
}

/// Makes a renamed entry last through a power cut, where the system can.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Gives a file the owner of another, where the process may.
#[cfg(unix)]
fn own(path: &Path, like: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    let _ = chown(path, Some(like.uid()), Some(like.gid()));
}

#[cfg(not(unix))]
fn own(_: &Path, _: &fs::Metadata) {}

/// A folder beside the target that only its owner can read. It goes with the statement.
struct Aside {
    folder: PathBuf,
    /// The path at which the rows are written, named like the target.
    rows: PathBuf,
}

impl Aside {
    fn new(target: &CopyTarget) -> Result<Self> {
        if !target.parent.is_dir() {
            let what = if target.parent.exists() { "is a file, not a folder" } else { "is no folder; make it first" };
            return Err(Error::statement(format!(
                "COPY cannot write '{}': '{}' {what}",
                target.shown,
                target.parent.display()
            )));
        }
        let mut builder = fs::DirBuilder::new();
        let created = {
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            (0..)
                .find_map(|number: u32| {
                    let folder = target.parent.join(format!(".bonnet-copy-{}-{number}", std::process::id()));
                    match builder.create(&folder) {
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                        done => Some(done.map(|()| folder)),
                    }
                })
                .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
        };
        let folder = created.map_err(|error| {
            let text = format!(
                "COPY cannot write '{}': in the folder '{}' nothing can be made: {error}",
                target.shown,
                target.parent.display()
            );
            Error::from(Raised::new(ErrorKind::Files, text))
        })?;
        ASIDE.lock().unwrap_or_else(PoisonError::into_inner).push(folder.clone());
        let rows = folder.join(target.path.file_name().unwrap_or("rows".as_ref()));
        Ok(Self { folder, rows })
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        remove(&self.folder);
        ASIDE.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| *folder != self.folder);
    }
}

/// Removes a folder, into which a writer that is being stopped may still write.
fn remove(folder: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// The error of the query or of its writer, which speaks of a store and of files that the user never named.
fn own_words(error: Error, target: &CopyTarget, aside: &Aside, url: &str) -> Error {
    let text = error.to_string();
    let folder = aside.folder.to_string_lossy();
    let of_writer = ["object store", "ObjectStore", "finalizing writes", "Unable to copy data to file", &*folder]
        .iter()
        .any(|sign| text.contains(sign));
    if !of_writer {
        return error;
    }
    let code = text.split_once("os error ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    match code {
        Some(code) => target.error(&io::Error::from_raw_os_error(code)),
        None if text.contains(&*folder) && error.kind() != ErrorKind::Internal => {
            let text = text.replace(url, &target.shown).replace(&*aside.rows.to_string_lossy(), &target.shown);
            Raised::new(error.kind(), text).into()
        }
        None => target.error(&io::Error::other("the disk is full, or a file may not grow this large")),
    }
}
