//! The kinds of errors, as programs see them.

use datafusion::common::DataFusionError;
use futures::TryStreamExt;

use crate::{Answer, Engine, EngineOptions, Error, ErrorKind, Session};

async fn failure(session: &Session, statement: &str) -> Error {
    match session.execute(statement).await {
        Ok(Answer::Rows(rows)) => rows.try_collect::<Vec<_>>().await.expect_err(statement).into(),
        Ok(Answer::Done(tag)) => panic!("{statement}: {tag}"),
        Err(error) => error,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_kind_that_their_statements_deserve() {
    let session = Engine::open(EngineOptions::default()).unwrap().session();
    for statement in ["CREATE TABLE k(x INT PRIMARY KEY, y INT NOT NULL)", "INSERT INTO k VALUES (1, 1)"] {
        session.execute(statement).await.unwrap();
    }
    for (statement, kind) in [
        ("SELEC 1", ErrorKind::Syntax),
        ("SELECT 1 +* 2", ErrorKind::Syntax),
        ("SELECT 'x", ErrorKind::Syntax),
        ("ATTACH", ErrorKind::Syntax),
        ("SELECT * FROM nowhere", ErrorKind::UnknownTable),
        ("DROP VIEW nowhere", ErrorKind::UnknownTable),
        ("USE nowhere", ErrorKind::UnknownSchema),
        ("SELECT nothing FROM k", ErrorKind::UnknownColumn),
        ("SELECT nothing(x) FROM k", ErrorKind::UnknownFunction),
        ("SET bonnet.nothing = 1", ErrorKind::UnknownSetting),
        ("CREATE TABLE k(x INT)", ErrorKind::AlreadyExists),
        ("SET bonnet.statement_timeout = 'soon'", ErrorKind::Statement),
        ("SELECT x FROM k GROUP BY y", ErrorKind::Statement),
        ("SELECT x / 0 FROM k", ErrorKind::DivisionByZero),
        ("SELECT (x + 200)::TINYINT FROM k", ErrorKind::Cast),
        ("SELECT 9223372036854775807 + x FROM k", ErrorKind::OutOfRange),
        ("SELECT CAST('x' || x AS BIGINT) FROM k", ErrorKind::Cast),
        ("SELECT CAST('x' || x AS TIMESTAMP) FROM k", ErrorKind::Cast),
        ("INSERT INTO k VALUES (1, 2)", ErrorKind::RepeatedKey),
        ("INSERT INTO k VALUES (NULL, 2)", ErrorKind::MissingValue),
        ("INSERT INTO k VALUES (2, NULL)", ErrorKind::MissingValue),
        ("COMMIT", ErrorKind::NoTransaction),
    ] {
        let error = failure(&session, statement).await;
        assert_eq!(error.kind(), kind, "{statement}: {error}");
    }
    session.execute("SET bonnet.external_access = off").await.unwrap();
    for statement in ["SELECT * FROM 'x.csv'", "COPY k TO 'x.csv'", "ATTACH 'builtin:karate' AS karate"] {
        let error = failure(&session, statement).await;
        assert_eq!(error.kind(), ErrorKind::Forbidden, "{statement}: {error}");
    }
    let within = DataFusionError::ResourcesExhausted("much".into()).context("while sorting");
    assert_eq!(Error::from(within).kind().sqlstate(), "53200");
}
