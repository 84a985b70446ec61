//! Work that blocks its thread.

use std::io;

use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Does work of a few short reads of files on this thread, whose other tasks another thread takes over if that takes long: to
/// hand the work to a blocking thread and to wait for it takes longer than most such reads, and each statement has several.
pub(crate) async fn block_in_place<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => Ok(tokio::task::block_in_place(work)),
        // There is no other thread to take over.
        _ => SpawnedTask::spawn_blocking(work).join().await.map_err(|error| DataFusionError::External(Box::new(error))),
    }
}

/// Runs what waits for the disk.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T> {
    let done = SpawnedTask::spawn_blocking(work).join().await;
    Ok(done.map_err(|error| DataFusionError::Execution(format!("the work on the disk failed: {error}")))??)
}
