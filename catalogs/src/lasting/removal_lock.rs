//! The turn of a statement that takes files out of a table: DELETE, UPDATE, OPTIMIZE and a change of columns.
//!
//! The library's check of conflicts passes over files that a commit removed without a change of data, be they those that the
//! other commit removes too. A DELETE whose files OPTIMIZE had merged meanwhile was committed on top, so that the table had both
//! the merged and the rewritten rows; so were two OPTIMIZE. `tests/lasting/writers.rs` runs all pairs.
//!
//! Upstream: <https://github.com/delta-io/delta-rs/pull/3982>

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use datafusion::common::Result;

use super::fast::log;
use crate::ground::blocking::blocking;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// The turn, which ends when this is dropped, or when the process ends. The operating system keeps it, by a lock of the
/// log's folder, for all sessions and processes of this machine; rows can be inserted and read meanwhile.
#[derive(Debug)]
pub(super) struct RemovalLock {
    /// Locked; `None` where the file system has no locks.
    _folder: Option<File>,
}

impl RemovalLock {
    /// Waits for the turn on the table in this folder. The caller reads the table's version afterwards.
    ///
    /// # Errors
    /// If the folder of the log cannot be opened.
    pub(super) async fn wait(folder: &Path) -> Result<Self> {
        let folder = log::log(folder);
        let file = blocking(move || File::open(folder)).await?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _folder: Some(file) }),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                // Network file systems may have no locks: there the library's own check of conflicts is all there is.
                Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                    return Ok(Self { _folder: None });
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }
}
