//! The way of a statement through the engine.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use arrow::datatypes::SchemaRef;
use bonnet_sql::memory_text;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::TryStreamExt;

use crate::query::pump;
use crate::{Answer, Engine, Error, Raised, Result, Session, append, statements};
use bonnet_dialect::syntax::statements::parse;
use bonnet_dialect::syntax::tokens::split::split;

/// A shorter text is not worth a reservation.
const LONG_TEXT: usize = 1 << 20;

/// So many times the size of a long text is what its tokens, its tree and its plan take.
const COPIES_OF_TEXT: usize = 24;

/// Reserves the memory that a long statement takes before it reads a row.
fn room_for(text: &str, engine: &Engine) -> Result<Option<MemoryReservation>> {
    if text.len() < LONG_TEXT {
        return Ok(None);
    }
    let room = MemoryConsumer::new("text of the statement").register(&engine.shared.environment.memory_pool);
    room.try_grow(COPIES_OF_TEXT * text.len()).map_err(|error| {
        Error::statement(format!(
            "there is no room for a statement of {} bytes. {}. Read the values from a file, FROM 'file.parquet', or raise \
             --memory-limit",
            text.len(),
            memory_text(&error)
        ))
    })?;
    Ok(Some(room))
}

impl Session {
    /// Runs exactly one statement. The work happens on the engine's own threads, whatever runtime awaits it; dropping
    /// the future, or the stream of rows, ends it.
    ///
    /// # Errors
    /// What is wrong with the statement, or went wrong in running it.
    pub async fn execute(&self, statement: &str) -> Result<Answer> {
        // Before the text is copied.
        let room = room_for(statement, &self.engine)?;
        let (session, text) = (self.clone(), statement.to_owned());
        let work = |deadline| async move {
            let _room = room;
            // The work of any statement is large, and would be moved from task to task.
            let ran = Box::pin(statements::run(&session, parse::parse(&text)?));
            Ok(match ran.await? {
                // Its rows are on their way before whoever waits for them is woken.
                Answer::Rows(rows) => Answer::Rows(pump(&session.engine, rows, deadline)),
                done => done,
            })
        };
        let (answer, scope) = self.run_until(work).await?;
        match answer {
            Ok(Answer::Rows(rows)) => Ok(Answer::Rows(scope.until_end_of(rows))),
            Ok(done) => Ok(done),
            Err(error) => Err(match self.committed_runs().await {
                Some(committed) => Raised::new(error.kind(), format!("{error}; {committed}")).into(),
                None => error,
            }),
        }
    }

    /// The columns that a query answers, which is planned but not run; `None` for a statement that is no query.
    ///
    /// # Errors
    /// What is wrong with the statement.
    pub async fn describe(&self, statement: &str) -> Result<Option<SchemaRef>> {
        let room = room_for(statement, &self.engine)?;
        let (session, text) = (self.clone(), statement.to_owned());
        let work = async move {
            let _room = room;
            statements::describe(&session, parse::parse(&text)?).await
        };
        self.run(work).await?.0
    }

    /// Makes a graph of a program's rows, with all its tables or not at all: a schema with the tables `nodes` (with a
    /// column `node`) and `edges` (with `src` and `dst`), and more where `tables` has more. `name` is written as in SQL,
    /// `g` or `catalog.g`; with `replace` it takes the place of a schema. `directed` says that the edges are arcs.
    ///
    /// # Errors
    /// If the name is taken and not to be replaced, a table or one of these columns is missing, or there is no room.
    pub async fn create_graph(
        &self,
        name: &str,
        tables: Vec<(&'static str, Vec<RecordBatch>)>,
        directed: bool,
        replace: bool,
    ) -> Result<()> {
        let (session, name) = (self.clone(), name.to_owned());
        let work = async move { statements::create_graph(&session, &name, tables, directed, replace).await };
        self.run(work).await?.0
    }

    /// The types of a statement's parameters `$1`, `$2`, ... by their numbers, where their positions say them. Nothing is run.
    ///
    /// # Errors
    /// What is wrong with the statement.
    pub async fn parameter_types(&self, statement: &str) -> Result<BTreeMap<usize, DataType>> {
        let (session, text) = (self.clone(), statement.to_owned());
        let work = async move { statements::parameter_types(&session, parse::parse(&text)?).await };
        self.run(work).await?.0
    }

    /// Appends rows to a table, in memory or lasting, as one statement: all of them or none. Needs no SQL, so it is the
    /// quickest way for a program to write many batches. Columns are found by their names, in any order, and cast to the
    /// types of the table; those that the rows lack hold their default or NULL. `table` is written as in SQL. Answers the
    /// number of rows.
    ///
    /// # Errors
    /// If there is no such table, it takes no rows, lacks a column or refuses a value.
    pub async fn append(&self, table: &str, rows: RecordBatch) -> Result<u64> {
        let (session, table) = (self.clone(), table.to_owned());
        let (count, _) = self.run(async move { append::append(&session, &table, &rows).await }).await?;
        count
    }

    /// Appends rows as they come, like [`Session::append`]: all of them, or none where one is refused or the stream ends with an
    /// error. A table in memory holds them meanwhile, a lasting one a batch of them.
    ///
    /// # Errors
    /// As [`Session::append`], and those of the stream.
    pub async fn append_stream(&self, table: &str, rows: SendableRecordBatchStream) -> Result<u64> {
        let (session, table) = (self.clone(), table.to_owned());
        let (count, _) = self.run(async move { append::append_stream(&session, &table, rows).await }).await?;
        count
    }

    /// Runs exactly one statement and answers its rows; none where it answers no rows.
    ///
    /// # Errors
    /// What is wrong with the statement, or went wrong in running it.
    pub async fn sql(&self, statement: &str) -> Result<Vec<RecordBatch>> {
        match self.execute(statement).await? {
            Answer::Rows(rows) => Ok(rows.try_collect().await?),
            Answer::Done(_) => Ok(Vec::new()),
        }
    }
}

impl Engine {
    /// Runs a text of one or more statements in a session of its own, and answers the rows of the last; none where it
    /// answers no rows. Waits for them.
    ///
    /// # Errors
    /// What is wrong with a statement, or went wrong in running it. Those before it have run.
    ///
    /// # Panics
    /// When called on an asynchronous runtime's own thread: await [`Session::sql`] there.
    pub fn sql(&self, text: &str) -> Result<Vec<RecordBatch>> {
        let session = self.session();
        self.block_on(async {
            let mut rows = Vec::new();
            for statement in split(text) {
                rows = session.sql(statement.text).await?;
            }
            Ok(rows)
        })
    }

    /// Appends rows to a table in a session of its own, see [`Session::append`]. Waits for them.
    ///
    /// # Errors
    /// As [`Session::append`].
    ///
    /// # Panics
    /// When called on an asynchronous runtime's own thread: await [`Session::append`] there.
    pub fn append(&self, table: &str, rows: RecordBatch) -> Result<u64> {
        self.block_on(self.session().append(table, rows))
    }
}
