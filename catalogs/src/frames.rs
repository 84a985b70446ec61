//! Tables that a program lends to a statement: what no catalog has under a name is looked up among them. So a variable of
//! Python can stand in FROM.

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
    static LENT: Arc<dyn Frames>;
}

/// Runs work whose statements see these tables.
pub async fn lend<T>(frames: Option<Arc<dyn Frames>>, work: impl Future<Output = T>) -> T {
    match frames {
        Some(frames) => LENT.scope(frames, work).await,
        None => work.await,
    }
}

/// The table that the program around the running statement has under this name.
pub(crate) fn lent(name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    LENT.try_with(Arc::clone).map_or(Ok(None), |frames| frames.frame(name))
}
