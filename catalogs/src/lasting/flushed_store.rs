//! The files of this machine for the Delta library: what it writes is on the disk before it has its name, and the name
//! before the library goes on. The library's own store leaves both to the system, so that a power cut after a commit could
//! leave an empty commit, or a commit that names files of no bytes.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::common::runtime::SpawnedTask;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use futures::stream::BoxStream;

use super::fast::log::UNFINISHED;
use super::{entry, names};

/// The files of this machine, by their absolute paths.
#[derive(Debug, Default)]
pub(super) struct FlushedStore(Arc<LocalFileSystem>);

impl fmt::Display for FlushedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files")
    }
}

/// Runs what waits for the disk.
async fn blocking<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(&FilePath) -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let shown = path.display().to_string();
    let done = SpawnedTask::spawn_blocking(move || work(&path)).join().await;
    done.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::AlreadyExists { path: shown, source: error.into() },
        io::ErrorKind::NotFound => Error::NotFound { path: shown, source: error.into() },
        io::ErrorKind::PermissionDenied => Error::PermissionDenied { path: shown, source: error.into() },
        _ => Error::Generic { store: "files", source: error.into() },
    })
}

fn parent(path: &FilePath) -> &FilePath {
    path.parent().unwrap_or(FilePath::new("/"))
}

/// Puts a file that is written, and its name, on the disk.
fn flush(path: &FilePath) -> io::Result<()> {
    File::open(path)?.sync_all()?;
    entry::sync_folder(parent(path))
}

/// Writes a file under another name, and gives it its own once it is on the disk; with `new` only if nothing has that name.
fn put(path: &FilePath, payload: &PutPayload, new: bool) -> io::Result<PutResult> {
    let folder = parent(path);
    if !folder.is_dir() {
        fs::create_dir_all(folder)?;
        entry::sync_folder(parent(folder))?;
    }
    let staged = folder.join(format!("{UNFINISHED}{}", names::unique()));
    let placed = write(&staged, payload).and_then(|()| match new {
        // A second name can be given only where there is none: of two writers one is first.
        true => fs::hard_link(&staged, path),
        false => fs::rename(&staged, path),
    });
    if new || placed.is_err() {
        // What cannot be removed now, VACUUM removes.
        let _ = fs::remove_file(&staged);
    }
    placed?;
    entry::sync_folder(folder)?;
    Ok(PutResult { e_tag: None, version: None })
}

fn write(path: &FilePath, payload: &PutPayload) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    payload.iter().try_for_each(|bytes| file.write_all(bytes))?;
    file.sync_all()
}

#[async_trait]
impl ObjectStore for FlushedStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let new = match options.mode {
            PutMode::Create => true,
            PutMode::Overwrite => false,
            PutMode::Update(_) => return self.0.put_opts(location, payload, options).await,
        };
        blocking(self.0.path_to_filesystem(location)?, move |path| put(path, &payload, new)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let path = self.0.path_to_filesystem(location)?;
        let inner = self.0.put_multipart_opts(location, options).await?;
        Ok(Box::new(Upload { inner, path }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await?;
        blocking(self.0.path_to_filesystem(to)?, flush).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        blocking(self.0.path_to_filesystem(from)?, |path| File::open(path)?.sync_all()).await?;
        self.0.rename_opts(from, to, options).await?;
        blocking(self.0.path_to_filesystem(to)?, |path| entry::sync_folder(parent(path))).await
    }
}

/// A file that is written in parts. It has its name before it is flushed, which is no harm: no commit names it yet.
#[derive(Debug)]
struct Upload {
    inner: Box<dyn MultipartUpload>,
    path: PathBuf,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let done = self.inner.complete().await?;
        blocking(self.path.clone(), flush).await?;
        Ok(done)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[cfg(test)]
mod tests {
    use datafusion::object_store::ObjectStoreExt;

    use super::*;

    #[tokio::test]
    async fn of_two_files_of_one_name_the_first_is_kept_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("_delta_log/0.json");
        let place = Path::from_filesystem_path(folder.path()).unwrap().join("_delta_log").join("0.json");
        let store = FlushedStore::default();
        let create = || PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        store.put_opts(&place, "first".into(), create()).await.unwrap();
        let error = store.put_opts(&place, "second".into(), create()).await.unwrap_err();
        assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        store.put(&place, "third".into()).await.unwrap();
        assert_eq!(store.get(&place).await.unwrap().bytes().await.unwrap(), "third");
        assert_eq!(fs::read_dir(parent(&path)).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn parts_become_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = Path::from_filesystem_path(folder.path()).unwrap().join("parts");
        let store = FlushedStore::default();
        let mut upload = store.put_multipart(&place).await.unwrap();
        upload.put_part("ab".into()).await.unwrap();
        upload.put_part("c".into()).await.unwrap();
        upload.complete().await.unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("parts")).unwrap(), "abc");
        let other = place.clone().join("no");
        assert!(store.copy(&place, &Path::from(format!("{place}-copy"))).await.is_ok());
        assert!(store.get(&other).await.is_err());
    }
}
