//! The integration tests of the engine and of its command.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

mod analyses;
mod append;
mod architecture;
mod bad_input;
mod cells;
mod cli;
mod codec;
mod collections;
mod differential;
mod documents;
mod explain;
mod file_faults;
mod fuzz;
mod graph_cache;
mod lasting;
mod limits;
mod memory;
mod networkx;
mod once;
mod program;
mod published;
mod registry;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "pg")]
mod serve;
mod slt;
mod subjects;

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bonnetdb::{Answer, Engine, EngineOptions, Error, Session};
use futures::TryStreamExt;

/// The whole answer of a statement; no batches for one that answers no rows.
async fn collect(session: &Session, sql: &str) -> Result<Vec<RecordBatch>, Error> {
    match session.execute(sql).await? {
        Answer::Rows(rows) => Ok(rows.try_collect().await?),
        Answer::Done(_) => Ok(Vec::new()),
    }
}

/// The rows of batches as text, NULL as `NULL`; numbers in as many digits as tell them apart.
fn texts(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap());
        let columns: Vec<_> = columns.collect();
        rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|it| it.value(row).to_string()).collect()));
    }
    rows
}

/// Sends Ctrl-C to a process.
#[cfg(unix)]
fn send_ctrl_c(process: &std::process::Child) {
    let status = std::process::Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

/// An engine with one session, for tests that wait.
struct Db {
    engine: Engine,
    session: Session,
}

impl Db {
    fn new() -> Self {
        Self::with(EngineOptions { threads: Some(2), memory_limit: None, ..EngineOptions::default() })
    }

    fn with(options: EngineOptions) -> Self {
        let engine = Engine::open(options).unwrap();
        let session = engine.session();
        Self { engine, session }
    }

    /// With the data that the project ships attached.
    fn with_karate() -> Self {
        let db = Self::new();
        db.run("ATTACH 'builtin:karate' AS karate");
        db
    }

    fn try_run(&self, sql: &str) -> Result<Vec<RecordBatch>, Error> {
        self.engine.block_on(collect(&self.session, sql))
    }

    fn run(&self, sql: &str) -> Vec<RecordBatch> {
        self.try_run(sql).unwrap_or_else(|error| panic!("{sql}\n{error}"))
    }

    fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        texts(&self.run(sql))
    }

    /// The one value of a statement.
    fn value(&self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert!(rows.len() == 1 && rows[0].len() == 1, "{sql}: {rows:?}");
        rows[0][0].clone()
    }

    /// What a statement is refused with.
    fn error(&self, sql: &str) -> String {
        match self.try_run(sql) {
            Err(error) => error.to_string(),
            Ok(batches) => panic!("{sql}\nis not refused but answers {:?}", texts(&batches)),
        }
    }

    /// Asserts that a statement is refused with a text that holds each of these parts.
    fn refuses(&self, sql: &str, parts: &[&str]) {
        let error = self.error(sql);
        for part in parts {
            assert!(error.contains(part), "{sql}\nsays: {error}\nexpected: {part}");
        }
        assert!(!error.contains("panicked") && !error.contains("defect"), "{sql}\nsays: {error}");
    }
}

/// The folder of the repository. The tests are a target of `cli/`, whose folder is the working directory too.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("`cli/` is a folder of the repository")
}

/// A file or folder of the published data; `None`, and a word about it, where the data are absent.
fn data(path: &str) -> Option<String> {
    let default = repository().join("../shared/data");
    let path = std::env::var_os("BONNET_DATA").map_or(default, PathBuf::from).join(path);
    if !path.exists() {
        assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{} is absent", path.display());
        println!("skipped: {} is absent", path.display());
        return None;
    }
    Some(path.to_str().expect("a path in UTF-8").to_owned())
}
