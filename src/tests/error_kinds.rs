//! The kinds of errors, as programs see them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use futures::TryStreamExt;

use crate::{Answer, Engine, EngineOptions, Error, ErrorKind, Session};

async fn failure(session: &Session, statement: &str) -> Error {
    match session.execute(statement).await {
        Ok(Answer::Rows(rows)) => rows.try_collect::<Vec<_>>().await.expect_err(statement).into(),
        Ok(Answer::Done(tag)) => panic!("{statement}: {tag}"),
        Err(error) => error,
    }
}

/// A folder of this test, which is removed with it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bonnet-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Statements in a session of their own, each with the kind of its error; `None` for one that runs.
async fn check(options: EngineOptions, statements: &[(&str, Option<ErrorKind>)]) -> Vec<ErrorKind> {
    let session = Engine::open(options).unwrap().session();
    let panics = |_: &[ColumnarValue]| -> Result<ColumnarValue, DataFusionError> { panic!("a function that panics") };
    let defect = create_udf("defect", vec![DataType::Int64], DataType::Int64, Volatility::Volatile, Arc::new(panics));
    session.context.register_udf(defect);
    let mut kinds = Vec::new();
    for (statement, kind) in statements {
        match kind {
            Some(kind) => {
                let error = failure(&session, statement).await;
                assert_eq!(error.kind(), *kind, "{statement}: {error}");
                kinds.push(*kind);
            }
            None => match session.execute(statement).await.expect(statement) {
                Answer::Rows(rows) => drop(rows.try_collect::<Vec<_>>().await.expect(statement)),
                Answer::Done(_) => {}
            },
        }
    }
    kinds
}

async fn in_memory() -> Vec<ErrorKind> {
    let statements = [
        ("CREATE TABLE k(x INT PRIMARY KEY, y INT NOT NULL)", None),
        ("INSERT INTO k VALUES (1, 1)", None),
        ("CREATE VIEW v AS SELECT x / 0 AS z FROM k", None),
        ("SELEC 1", Some(ErrorKind::Syntax)),
        ("SELECT 1 +* 2", Some(ErrorKind::Syntax)),
        ("SELECT 'x", Some(ErrorKind::Syntax)),
        ("ATTACH", Some(ErrorKind::Syntax)),
        ("SELECT * FROM nowhere", Some(ErrorKind::UnknownTable)),
        ("DROP VIEW nowhere", Some(ErrorKind::UnknownTable)),
        ("DROP TABLE nowhere", Some(ErrorKind::UnknownTable)),
        ("ALTER TABLE nowhere RENAME TO somewhere", Some(ErrorKind::UnknownTable)),
        ("OPTIMIZE nowhere", Some(ErrorKind::UnknownTable)),
        ("USE nowhere", Some(ErrorKind::UnknownSchema)),
        ("CREATE TABLE nowhere.t(x INT)", Some(ErrorKind::UnknownSchema)),
        ("SELECT nothing FROM k", Some(ErrorKind::UnknownColumn)),
        ("SELECT nothing(x) FROM k", Some(ErrorKind::UnknownFunction)),
        ("SELECT * FROM nothing(1)", Some(ErrorKind::UnknownFunction)),
        ("SET bonnet.nothing = 1", Some(ErrorKind::UnknownSetting)),
        ("SHOW bonnet.nothing", Some(ErrorKind::UnknownSetting)),
        ("CREATE TABLE k(x INT)", Some(ErrorKind::AlreadyExists)),
        ("CREATE VIEW k AS SELECT 1", Some(ErrorKind::AlreadyExists)),
        ("CREATE SCHEMA main", Some(ErrorKind::AlreadyExists)),
        ("SET bonnet.statement_timeout = 'soon'", Some(ErrorKind::Statement)),
        ("SELECT x FROM k GROUP BY y", Some(ErrorKind::Statement)),
        ("SELECT 'there is no table' + x FROM k GROUP BY y", Some(ErrorKind::Statement)),
        ("SELECT x / 0 FROM k", Some(ErrorKind::DivisionByZero)),
        ("SELECT * FROM v", Some(ErrorKind::DivisionByZero)),
        ("SELECT 9223372036854775807 + x FROM k", Some(ErrorKind::OutOfRange)),
        ("SELECT sum(y + 9223372036854775800) FROM k, range(9)", Some(ErrorKind::OutOfRange)),
        ("SELECT 4611686018427387904 << x + x FROM k", Some(ErrorKind::OutOfRange)),
        ("SELECT (x * 1e300)::FLOAT FROM k", Some(ErrorKind::OutOfRange)),
        ("SELECT factorial(x + 20) FROM k", Some(ErrorKind::OutOfRange)),
        ("SELECT (x + 200)::TINYINT FROM k", Some(ErrorKind::Cast)),
        ("SELECT CAST('x' || x AS BIGINT) FROM k", Some(ErrorKind::Cast)),
        ("SELECT CAST('x' || x AS TIMESTAMP) FROM k", Some(ErrorKind::Cast)),
        ("SELECT regexp_extract('(' || x, '(' || x) FROM k", Some(ErrorKind::Data)),
        ("SELECT regexp_extract('x', '(there is no table' || x) FROM k", Some(ErrorKind::Data)),
        ("INSERT INTO k VALUES (1, 2)", Some(ErrorKind::RepeatedKey)),
        ("INSERT INTO k VALUES (NULL, 2)", Some(ErrorKind::MissingValue)),
        ("INSERT INTO k VALUES (2, NULL)", Some(ErrorKind::MissingValue)),
        ("MERGE INTO k USING k AS j ON k.x = j.x WHEN MATCHED THEN DELETE", Some(ErrorKind::NotSupported)),
        ("SELECT * FROM k TABLESAMPLE BERNOULLI (50)", Some(ErrorKind::NotSupported)),
        ("SELECT x COLLATE de FROM k", Some(ErrorKind::NotSupported)),
        ("SELECT a.x FROM k AS a POSITIONAL JOIN k AS b", Some(ErrorKind::NotSupported)),
        ("UPDATE k SET y = (SELECT max(j.y) FROM k AS j WHERE j.x < k.x)", Some(ErrorKind::NotSupported)),
        ("ALTER TABLE k ADD COLUMN z INT CHECK (z > 0)", Some(ErrorKind::NotSupported)),
        ("COMMIT", Some(ErrorKind::NoTransaction)),
        ("BEGIN", None),
        ("BEGIN", Some(ErrorKind::TransactionOpen)),
        ("ALTER TABLE k ADD COLUMN z INT", None),
        ("INSERT INTO k VALUES (4, 4, 4)", Some(ErrorKind::NotSupported)),
        ("ROLLBACK", Some(ErrorKind::NotSupported)),
        ("ALTER TABLE k DROP COLUMN z", None),
        ("SELECT defect(x) FROM k", Some(ErrorKind::Internal)),
        ("SET bonnet.statement_timeout = '20ms'", None),
        (
            "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.value % 7 = b.value % 5",
            Some(ErrorKind::Timeout),
        ),
        ("SET bonnet.external_access = off", None),
        ("SELECT * FROM 'x.csv'", Some(ErrorKind::Forbidden)),
        ("COPY k TO 'x.csv'", Some(ErrorKind::Forbidden)),
        ("ATTACH 'builtin:karate' AS karate", Some(ErrorKind::Forbidden)),
        ("SET bonnet.external_access = on", Some(ErrorKind::Forbidden)),
    ];
    check(EngineOptions::default(), &statements).await
}

async fn of_files(folder: &Folder) -> Vec<ErrorKind> {
    let written = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.file(name), bytes).unwrap();
        format!("SELECT * FROM '{}'", folder.file(name).display())
    };
    let parquet = written("cut.parquet", b"PAR1 there is no table");
    let nowhere = format!("COPY (SELECT 1) TO '{}'", folder.file("nowhere/x.csv").display());
    let attach = format!("ATTACH '{}' AS nowhere", folder.file("nowhere").display());
    let statements = [parquet, attach]
        .map(|statement| (statement, ErrorKind::Files))
        .into_iter()
        .chain([(nowhere, ErrorKind::Statement)]);
    let statements: Vec<_> = statements.collect();
    let statements: Vec<_> = statements.iter().map(|(statement, kind)| (statement.as_str(), Some(*kind))).collect();
    check(EngineOptions::default(), &statements).await
}

async fn of_a_database(path: &Path) -> Vec<ErrorKind> {
    let database = |read_only| EngineOptions { database: Some(path.to_owned()), read_only, ..Default::default() };
    let statements = [
        ("CREATE TABLE t(x INT NOT NULL)", None),
        ("INSERT INTO t VALUES (1)", None),
        ("INSERT INTO t VALUES (NULL)", Some(ErrorKind::MissingValue)),
        ("CREATE TABLE t(x INT)", Some(ErrorKind::AlreadyExists)),
        ("CREATE TABLE u AS SELECT x / 0 AS y FROM t", Some(ErrorKind::DivisionByZero)),
        ("INSERT INTO t SELECT 'x' || x FROM t", Some(ErrorKind::Cast)),
        ("UPDATE t SET x = x + 2147483647", Some(ErrorKind::Cast)),
        ("DROP VIEW t2", Some(ErrorKind::UnknownTable)),
    ];
    let mut kinds = check(database(false), &statements).await;
    let statements = [
        ("INSERT INTO t VALUES (2)", Some(ErrorKind::ReadOnly)),
        ("CREATE SCHEMA s", Some(ErrorKind::ReadOnly)),
        ("DROP TABLE t", Some(ErrorKind::ReadOnly)),
    ];
    kinds.extend(check(database(true), &statements).await);
    kinds
}

async fn of_memory() -> Vec<ErrorKind> {
    let options = EngineOptions { memory_limit: Some(4 << 20), ..Default::default() };
    check(options, &[("SELECT array_agg(value) FROM range(10000000)", Some(ErrorKind::Memory))]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_raised_and_is_the_one_that_the_statement_deserves() {
    let folder = Folder::new("kinds");
    let mut kinds = in_memory().await;
    kinds.extend(of_files(&folder).await);
    kinds.extend(of_a_database(&folder.file("d.bonnet")).await);
    kinds.extend(of_memory().await);
    let raised: HashSet<ErrorKind> = kinds.into_iter().collect();
    let missing: Vec<_> = ErrorKind::ALL.iter().filter(|kind| !raised.contains(kind)).collect();
    assert!(missing.is_empty(), "no statement raises {missing:?}");
    let within = DataFusionError::ResourcesExhausted("much".into()).context("while sorting");
    assert_eq!(Error::from(within).kind().sqlstate(), "53200");
}

#[test]
fn the_page_has_every_kind_with_its_class() {
    let page = include_str!("../../docs/errors.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.contains("| `")).collect();
    assert_eq!(rows.len(), ErrorKind::ALL.len());
    for kind in ErrorKind::ALL {
        let row = format!("| {} | `{kind:?}` | `", kind.sqlstate());
        assert!(rows.iter().any(|found| found.starts_with(&row)), "{row}");
    }
}
