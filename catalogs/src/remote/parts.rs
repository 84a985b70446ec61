//! A file that is read in parts, and has to stay what it was when it was opened.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::common::{DataFusionError, Result};
use futures::StreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetResult, GetResultPayload, ObjectMeta, ObjectStore};
use tokio::time::timeout;

use super::address::Address;
use super::failure::{CHANGED, silent, words};

/// A file as it was found.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
    pub(super) is_s3: bool,
    pub(super) size: u64,
    /// What tells a file from the one that takes its place: its tag and its date, where the server says them.
    pub(super) tag: Option<String>,
    pub(super) modified: chrono::DateTime<chrono::Utc>,
    pub(super) silence: Duration,
    pub(super) failure: Mutex<Option<String>>,
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
    pub(super) async fn get(self: Arc<Self>, location: &Path, options: GetOptions) -> Result<GetResult, Error> {
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
        let watched = futures::stream::unfold((parts, self), |(mut parts, file)| async move {
            let next = match timeout(file.silence, parts.next()).await {
                Err(_) => Err(file.failed(silent(file.silence))),
                Ok(None) => return None,
                Ok(Some(part)) => part.map_err(|error| file.failed(words(&error, file.is_s3))),
            };
            Some((next, (parts, file)))
        });
        Ok(GetResult { payload: GetResultPayload::Stream(watched.boxed()), meta, range, attributes })
    }

    /// Keeps why a part could not be read, and says so.
    fn failed(&self, what: String) -> Error {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| what.clone());
        Error::Generic { store: "remote", source: Box::new(DataFusionError::Execution(what)) }
    }
}
