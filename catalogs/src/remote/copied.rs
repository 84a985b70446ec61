//! Files that are fetched whole: texts, whose readers look at them more than once, and those of which a server gives no parts.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::runtime_env::RuntimeEnv;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::{Error, GetOptions, GetResult};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::address::{Address, MATCHING};
use super::connect::{bucket_of, connect};
use super::failure::{raised, refused, silent};
use super::parts::plain_name;
use super::place::{Content, Place};

/// Pieces that wait to be written.
const WAITING: usize = 8;

/// The copy of a file, in a folder that only its owner can read, where temporary files of the engine lie.
///
/// # Errors
/// If the file cannot be fetched, or is larger than temporary files may be.
pub(crate) async fn copied(address: &Address, runtime: &RuntimeEnv) -> Result<Arc<Place>> {
    copied_within(address, runtime, super::SILENCE).await
}

/// As [`copied`], from a server that may keep silent for this long.
pub(super) async fn copied_within(address: &Address, runtime: &RuntimeEnv, silence: Duration) -> Result<Arc<Place>> {
    let found = asked(address, GetOptions::default(), silence).await?;
    let (size, most) = (found.meta.size, runtime.disk_manager.max_temp_directory_size());
    if size > most {
        return Err(DataFusionError::ResourcesExhausted(format!(
            "'{}' has {size} bytes, and temporary files may have {most}: SET datafusion.runtime.max_temp_directory_size",
            address.shown()
        )));
    }
    let folder = match runtime.disk_manager.temp_dir_paths().first() {
        Some(place) => tempfile::tempdir_in(place)?,
        None => tempfile::tempdir()?,
    };
    let copy = folder.path().join(plain_name(address));
    let file = File::create(&copy)?;
    let length = written(found.into_stream(), file, address, silence).await?;
    if length != size {
        return Err(raised(address, &format!("came in part: {length} of {size} bytes")));
    }
    let folder = Content::Copy { _folder: folder };
    Ok(Place::at(copy, address.shown(), folder))
}

/// The answer of the server, before its bytes.
pub(super) async fn asked(address: &Address, options: GetOptions, silence: Duration) -> Result<GetResult> {
    let (store, path) = connect(address).map_err(|error| refused(address, &error))?;
    match timeout(silence, store.get_opts(&path, options)).await {
        Err(_) => Err(raised(address, &silent(silence))),
        Ok(found) => found.map_err(|error| refused(address, &error)),
    }
}

/// Appends what comes to a file, on a thread that may wait; answers how many bytes that was.
pub(super) async fn written(
    mut stream: BoxStream<'static, object_store::Result<Bytes>>,
    mut file: File,
    address: &Address,
    silence: Duration,
) -> Result<u64> {
    let (pieces, mut waiting) = mpsc::channel::<Bytes>(WAITING);
    let writer = SpawnedTask::spawn_blocking(move || {
        while let Some(piece) = waiting.blocking_recv() {
            file.write_all(&piece)?;
        }
        Ok::<_, std::io::Error>(())
    });
    let mut length = 0;
    let stopped = loop {
        match timeout(silence, stream.next()).await {
            Err(_) => break Some(raised(address, &silent(silence))),
            Ok(Some(Err(error))) => break Some(refused(address, &error)),
            Ok(Some(Ok(piece))) => {
                length += piece.len() as u64;
                // Where it cannot write the writer has gone, and says why below.
                if pieces.send(piece).await.is_err() {
                    break None;
                }
            }
            Ok(None) => break None,
        }
    };
    drop(pieces);
    // What came is written, whatever stopped it.
    writer.join().await.map_err(|error| DataFusionError::Execution(format!("writing a copy failed: {error}")))??;
    stopped.map_or(Ok(length), Err)
}

impl Address {
    /// The addresses of the files that are meant, in order: itself, but for a pattern.
    ///
    /// # Errors
    /// If no file matches, or the store does not say what it has.
    pub(crate) async fn files(self) -> Result<Vec<Self>> {
        let bucket = match &self {
            Self::S3 { bucket, .. } => Some(bucket.clone()),
            Self::Web(_) => None,
        };
        let (Some(bucket), Some((pattern, folder))) = (bucket, self.pattern()?) else { return Ok(vec![self]) };
        let fail = |error: Error| refused(&self, &error);
        let store = bucket_of(&bucket).map_err(fail)?;
        let listed = timeout(super::SILENCE, store.list(Some(&folder)).try_collect::<Vec<_>>()).await;
        let listed = listed.map_err(|_| raised(&self, &silent(super::SILENCE)))?.map_err(fail)?;
        let keys = listed.into_iter().map(|object| object.location.to_string());
        let mut keys: Vec<String> = keys.filter(|key| pattern.matches_with(key, MATCHING)).collect();
        keys.sort_unstable();
        match keys.is_empty() {
            true => plan_err!("'{}': no file matches", self.shown()),
            false => Ok(keys.into_iter().map(|key| Self::S3 { bucket: bucket.clone(), key }).collect()),
        }
    }
}
