//! How much of a statement is in its table already, while the statement goes on.

use std::sync::Arc;

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use tokio::sync::Mutex;

/// Rows that are committed as they come, counted. Whoever ends the statement is told how many there are: a commit that is
/// on its way then is waited for, and none comes after it.
#[derive(Debug, Default)]
pub struct Finished(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    rows: u64,
    closed: bool,
}

impl Finished {
    /// Commits rows and counts them: `commit` answers how many. Once begun it goes on to its end, even if nobody waits for
    /// it any more.
    ///
    /// # Errors
    /// If the statement was ended, or the commit fails.
    pub async fn add(self: &Arc<Self>, commit: impl Future<Output = Result<u64>> + Send + 'static) -> Result<u64> {
        let this = Arc::clone(self);
        let (done, answer) = tokio::sync::oneshot::channel();
        let work = async move {
            let mut count = this.0.lock().await;
            let added = if count.closed { exec_err!("the statement was ended") } else { commit.await };
            count.rows += added.as_ref().copied().unwrap_or(0);
            // Nobody may wait any more.
            let _ = done.send(added);
        };
        tokio::spawn(work);
        answer.await.map_err(|_| exec_datafusion_err!("the rows were not committed: the engine is ending"))?
    }

    /// Ends it, and answers how many rows are kept.
    pub async fn close(&self) -> u64 {
        let mut count = self.0.lock().await;
        count.closed = true;
        count.rows
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_commit_on_its_way_is_counted_and_none_comes_after_it() {
        let finished = Arc::new(Finished::default());
        assert_eq!(finished.add(async { Ok(2) }).await.unwrap(), 2);
        assert!(finished.add(async { exec_err!("the disk is full") }).await.is_err());
        // One that is begun and left alone.
        let (begun, is_begun) = tokio::sync::oneshot::channel();
        let slow = async move {
            begun.send(()).unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(3)
        };
        tokio::select! {
            biased;
            _ = is_begun => {}
            _ = finished.add(slow) => panic!("it is not waited for"),
        }
        assert_eq!(finished.close().await, 5);
        let error = finished.add(async { panic!("it is not begun") }).await.unwrap_err();
        assert!(error.to_string().contains("was ended"), "{error}");
        assert_eq!(finished.close().await, 5);
    }
}
