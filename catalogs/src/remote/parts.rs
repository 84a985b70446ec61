//! A file that is read in parts, and has to stay what it was when it was opened.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::common::{DataFusionError, Result};
use futures::StreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, ObjectStore};
use tokio::time::timeout;

use super::address::Address;
use super::connect::connect;
use super::failure::{CHANGED, raised, silent, status, words};
use super::place::{Content, Place};

/// The bytes at the end of a Parquet file that tell what it is.
const PARQUET_END: usize = 8;

/// A file as it was found.
#[derive(Debug)]
pub(super) struct Parts {
    store: Arc<dyn ObjectStore>,
    path: Path,
    is_s3: bool,
    size: u64,
    /// What tells a file from the one that takes its place: its tag and its date, where the server says them.
    tag: Option<String>,
    modified: chrono::DateTime<chrono::Utc>,
    silence: Duration,
    failure: Mutex<Option<String>>,
}

/// The place of a Parquet file that is read in parts; `None` where the server gives none.
///
/// # Errors
/// If the file cannot be reached, or is no Parquet file.
pub(crate) async fn opened(address: &Address) -> Result<Option<Arc<Place>>> {
    opened_within(address, super::SILENCE).await
}

/// As [`opened`], with a server that may keep silent for this long.
pub(super) async fn opened_within(address: &Address, silence: Duration) -> Result<Option<Arc<Place>>> {
    let is_s3 = matches!(address, Address::S3 { .. });
    let fail = |error: &Error| raised(address, &words(error, is_s3));
    let (store, path) = connect(address).map_err(|error| fail(&error))?;
    // The end of the file says what it is, how long, and whether parts are to be had, in one request. Not all who answer
    // GET answer HEAD.
    let options = GetOptions { range: Some(GetRange::Suffix(PARQUET_END as u64)), ..Default::default() };
    let end = async {
        let found = store.get_opts(&path, options).await?;
        let meta = found.meta.clone();
        Ok::<_, Error>((meta, found.bytes().await?))
    };
    let (meta, end) = match timeout(silence, end).await {
        Err(_) => return Err(raised(address, &silent(silence))),
        Ok(Err(error)) if lacks_parts(&error) => return Ok(None),
        Ok(Err(error)) => return Err(fail(&error)),
        Ok(Ok(found)) => found,
    };
    if !end.ends_with(b"PAR1") {
        let what = "is no Parquet file, or is cut short: it does not end with PAR1; read_csv and read_json read texts, \
                    whatever their names";
        return Err(raised(address, what));
    }
    let ObjectMeta { size, e_tag: tag, last_modified: modified, .. } = meta;
    let place = place_of(address, size, tag.as_deref(), modified);
    let parts = Parts { store, path, is_s3, size, tag, modified, silence, failure: Mutex::default() };
    Ok(Some(Place::at(place, address.shown(), Content::Parts(parts))))
}

/// Whether a server gives no parts of a file. A file without bytes has no last ones.
fn lacks_parts(error: &Error) -> bool {
    matches!(error, Error::NotSupported { .. })
        || error.to_string().contains("non-partial response")
        || status(error).is_some_and(|status| status.starts_with("416"))
}

/// A path that a file has as long as it stays what it is, so that what is known of it is found again.
fn place_of(address: &Address, size: u64, tag: Option<&str>, modified: chrono::DateTime<chrono::Utc>) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    match address {
        Address::Web(url) => url.as_str().hash(&mut hasher),
        Address::S3 { bucket, key } => (bucket, key, std::env::var("AWS_ENDPOINT_URL").ok()).hash(&mut hasher),
    }
    (size, tag, modified.timestamp_millis()).hash(&mut hasher);
    PathBuf::from(format!("/bonnet-remote/{:016x}/{}", hasher.finish(), plain_name(address)))
}

/// The name of the file in letters that mean nothing else in a path of a store.
pub(super) fn plain_name(address: &Address) -> String {
    let name = address.name();
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' });
    let plain: String = plain.collect();
    // A hidden file is none of a table.
    format!("{}{plain}", if plain.starts_with(['.', '_']) { "file" } else { "" })
}

impl Parts {
    /// Why a part could not be read.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file as the reader's store has it, at this path there.
    pub(super) fn meta(&self, location: &Path) -> ObjectMeta {
        ObjectMeta {
            location: location.clone(),
            last_modified: self.modified,
            size: self.size,
            e_tag: self.tag.clone(),
            version: None,
        }
    }

    /// A part, if the file is still what it was.
    pub(super) async fn get(
        &self,
        place: Arc<Place>,
        location: &Path,
        options: GetOptions,
    ) -> Result<GetResult, Error> {
        let meta = self.meta(location);
        let range = options.range.clone();
        if options.head {
            let payload = GetResultPayload::Stream(futures::stream::empty().boxed());
            return Ok(GetResult { payload, meta, range: 0..0, attributes: Default::default() });
        }
        // A weak tag matches nothing.
        let tag = self.tag.clone().filter(|tag| !tag.starts_with("W/"));
        let asked = GetOptions { range, if_match: tag, ..Default::default() };
        let found = match timeout(self.silence, self.store.get_opts(&self.path, asked)).await {
            Err(_) => return Err(self.failed(silent(self.silence))),
            Ok(Err(error)) => return Err(self.failed(words(&error, self.is_s3))),
            Ok(Ok(found)) => found,
        };
        let now = &found.meta;
        if (now.size, &now.e_tag, now.last_modified) != (self.size, &self.tag, self.modified) {
            return Err(self.failed(CHANGED.to_owned()));
        }
        let (range, attributes) = (found.range.clone(), found.attributes.clone());
        let parts = found.into_stream();
        let watched = futures::stream::unfold((parts, place), |(mut parts, place)| async move {
            let parts_of = place.parts()?;
            let next = match timeout(parts_of.silence, parts.next()).await {
                Err(_) => Err(parts_of.failed(silent(parts_of.silence))),
                Ok(None) => return None,
                Ok(Some(part)) => part.map_err(|error| parts_of.failed(words(&error, parts_of.is_s3))),
            };
            Some((next, (parts, place)))
        });
        Ok(GetResult { payload: GetResultPayload::Stream(watched.boxed()), meta, range, attributes })
    }

    /// Keeps why a part could not be read, and says so.
    fn failed(&self, what: String) -> Error {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| what.clone());
        Error::Generic { store: "remote", source: Box::new(DataFusionError::Execution(what)) }
    }
}
