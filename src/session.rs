//! A session: one user's settings and current schema, and the way of a statement through the engine.

use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::SessionContext;

use crate::{Engine, Result};

/// What a statement answers.
pub enum Answer {
    /// Rows, which stream as they are made. Dropping the stream ends the query.
    Rows(SendableRecordBatchStream),
    /// The statement is done; the text says what was done (`CREATE GRAPH`, `ATTACH`).
    Done(String),
}

/// One user's settings and current schema on an [`Engine`].
pub struct Session {
    engine: Engine,
    context: SessionContext,
}

impl Session {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine, context: SessionContext::new() }
    }

    /// Runs exactly one statement. The work happens on the engine's own threads, whatever runtime awaits it.
    pub async fn execute(&self, statement: &str) -> Result<Answer> {
        let context = self.context.clone();
        let statement = statement.to_owned();
        let rows = self
            .engine
            .shared
            .runtime
            .spawn(async move { context.sql(&statement).await?.execute_stream().await })
            .await
            .expect("the statement's task")?;
        Ok(Answer::Rows(rows))
    }
}
