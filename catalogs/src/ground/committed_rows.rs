//! Progress of a running statement: the rows that are already committed.

use std::sync::Arc;

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use tokio::sync::Mutex;

/// The rows of a statement that are committed as they come, counted. Whoever ends the statement learns how many there
/// are: a commit that has begun then is waited for, and none comes after it.
#[derive(Debug)]
pub struct CommittedRows {
    table: String,
    count: Mutex<Count>,
}

#[derive(Debug, Default)]
struct Count {
    rows: u64,
    closed: bool,
}

impl CommittedRows {
    /// The counter of a table, at none yet.
    pub fn new(table: &str) -> Self {
        Self { table: table.to_owned(), count: Mutex::default() }
    }

    /// The table into which they go.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Commits rows and counts them: `commit` answers how many. Once begun it completes, even if the caller is
    /// dropped.
    ///
    /// # Errors
    /// If the statement was ended, or the commit fails.
    pub async fn add(self: &Arc<Self>, commit: impl Future<Output = Result<u64>> + Send + 'static) -> Result<u64> {
        let this = Arc::clone(self);
        let (done, answer) = tokio::sync::oneshot::channel();
        let work = async move {
            let mut count = this.count.lock().await;
            let added = if count.closed { exec_err!("the statement was ended") } else { commit.await };
            count.rows += added.as_ref().copied().unwrap_or(0);
            // Nobody may wait any more.
            let _ = done.send(added);
        };
        tokio::spawn(work);
        answer.await.map_err(|_| exec_datafusion_err!("the rows were not committed: the engine is ending"))?
    }

    /// Ends the statement's commits, and answers how many rows are in the table.
    pub async fn close(&self) -> u64 {
        let mut count = self.count.lock().await;
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
        let committed = Arc::new(CommittedRows::new("t"));
        assert_eq!(committed.add(async { Ok(2) }).await.unwrap(), 2);
        assert!(committed.add(async { exec_err!("the disk is full") }).await.is_err());
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
            _ = committed.add(slow) => panic!("it is not waited for"),
        }
        assert_eq!(committed.close().await, 5);
        let error = committed.add(async { panic!("it is not begun") }).await.unwrap_err();
        assert!(error.to_string().contains("was ended"), "{error}");
        assert_eq!(committed.close().await, 5);
    }
}
