//! Tables of the calling program: a name that no catalog has is looked up among them, so a variable of Python can stand
//! in FROM.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::Result;

/// The tables of a program around a statement, by name.
pub trait Frames: Send + Sync {
    /// The table of this name, if the program has one. Asked while the statement is planned, maybe several times.
    ///
    /// # Errors
    /// If there is one that cannot be read as a table.
    fn frame(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>>;
}

tokio::task_local! {
    static CURRENT: Arc<dyn Frames>;
}

/// Runs work whose statements see these tables.
pub async fn with_frames<T>(frames: Option<Arc<dyn Frames>>, work: impl Future<Output = T>) -> T {
    match frames {
        Some(frames) => CURRENT.scope(frames, work).await,
        None => work.await,
    }
}

/// The table that the program around the running statement has under this name.
pub(crate) fn current_frame(name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    CURRENT.try_with(Arc::clone).map_or(Ok(None), |frames| frames.frame(name))
}
