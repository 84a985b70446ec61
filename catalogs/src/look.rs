//! Short looks at files in the midst of planning.

use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Looks at a few files on this thread, whose other tasks another thread takes over if that takes long: to hand the work to a
/// blocking thread and to wait for it takes longer than most looks, and each statement has several.
pub(crate) async fn look<T: Send + 'static>(at: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => Ok(tokio::task::block_in_place(at)),
        // There is no other thread to take over.
        _ => SpawnedTask::spawn_blocking(at).join().await.map_err(|error| DataFusionError::External(Box::new(error))),
    }
}
