//! Parquet files as they are opened: what they are, and whether parts of them are to be had.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use datafusion::common::Result;
use object_store::{Error, GetOptions, GetRange, ObjectMeta};
use tokio::time::timeout;

use super::address::Address;
use super::connect::connect;
use super::failure::{raised, refused, silent, status};
use super::parts::{Parts, plain_name};
use super::place::{Content, Place};

/// The bytes at the end of a Parquet file that tell what it is.
const PARQUET_END: usize = 8;

/// The place of a Parquet file that is read in parts; `None` where the server gives none.
///
/// # Errors
/// If the file cannot be reached, or is no Parquet file.
pub(crate) async fn opened(address: &Address) -> Result<Option<Arc<Place>>> {
    opened_within(address, super::SILENCE).await
}

/// As [`opened`], with a server that may keep silent for this long.
pub(super) async fn opened_within(address: &Address, silence: Duration) -> Result<Option<Arc<Place>>> {
    let (store, path) = connect(address).map_err(|error| refused(address, &error))?;
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
        Ok(Err(error)) => return Err(refused(address, &error)),
        Ok(Ok(found)) => found,
    };
    if !end.ends_with(b"PAR1") {
        let what = "is no Parquet file, or is cut short: it does not end with PAR1; read_csv and read_json read texts, \
                    whatever their names";
        return Err(raised(address, what));
    }
    let ObjectMeta { size, e_tag: tag, last_modified: modified, .. } = meta;
    let place = place_of(address, size, tag.as_deref(), modified);
    let parts = Parts { store, path, is_s3: address.is_s3(), size, tag, modified, silence, failure: Mutex::default() };
    Ok(Some(Place::at(place, address.shown(), Content::Parts(Arc::new(parts)))))
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
