//! BEGIN, COMMIT and ROLLBACK: what can be undone is undone, and what cannot is refused before a second change is made.

use std::time::Duration;

use bonnet_serve::ServeOptions;
use bonnetdb::{Engine, EngineOptions};
use pgwire::messages::response::TransactionStatus;

use super::Served;

#[test]
fn a_transaction_is_kept_or_put_back() {
    let served = Served::new();
    let mut client = served.client();
    client.query("CREATE TABLE t (a BIGINT)");
    assert_eq!(client.query("BEGIN").status, Some(TransactionStatus::Transaction));
    assert_eq!(client.query("INSERT INTO t VALUES (1)").tags, ["INSERT 0 1"]);
    assert_eq!(client.query("INSERT INTO t VALUES (2)").tags, ["INSERT 0 1"]);
    assert_eq!(client.query("COMMIT").status, Some(TransactionStatus::Idle));
    assert_eq!(
        client.query("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT 1; END").tags,
        ["BEGIN", "SELECT 1", "COMMIT"]
    );
    // What cannot be undone is refused with the reason.
    client.query("START TRANSACTION");
    client.query("INSERT INTO t VALUES (3)");
    let reply = client.query("CREATE SCHEMA more");
    assert_eq!((reply.error().code.as_str(), reply.status), ("0A000", Some(TransactionStatus::Error)));
    assert!(reply.error().message.contains("a transaction of several changes is not supported"), "{reply:?}");
    assert_eq!(client.query("SELECT 1").error().code, "25P02");
    let reply = client.query("ROLLBACK");
    assert_eq!((reply.tags[0].as_str(), reply.status), ("ROLLBACK", Some(TransactionStatus::Idle)));
    // One that has changed nothing can be rolled back, also after an error.
    client.query("BEGIN");
    client.query("SELECT nothing");
    let reply = client.query("COMMIT");
    assert_eq!((reply.tags[0].as_str(), reply.status), ("ROLLBACK", Some(TransactionStatus::Idle)));
    let reply = client.query("ROLLBACK");
    assert_eq!((reply.tags[0].as_str(), reply.warnings[0].code.as_str()), ("ROLLBACK", "25P01"));
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["2"]]);
    // Savepoints are places to go back to where nothing was changed since.
    assert_eq!(client.query("SAVEPOINT a").error().code, "25P01");
    let reply = client.query("BEGIN; SAVEPOINT a; SELECT nothing");
    assert_eq!((reply.tags.len(), reply.status), (2, Some(TransactionStatus::Error)));
    assert_eq!(client.query("SAVEPOINT b").error().code, "25P02");
    let reply = client.query("ROLLBACK TO SAVEPOINT a; INSERT INTO t VALUES (4); ROLLBACK TO a");
    assert_eq!((reply.tags.join(" ").as_str(), reply.error().code.as_str()), ("ROLLBACK INSERT 0 1", "0A000"));
    assert_eq!(client.query("RELEASE b").error().code, "25P02");
    assert_eq!(client.query("COMMIT").tags, ["ROLLBACK"]);
    assert_eq!(client.rows("SELECT count(*) FROM t"), [["2"]]);
}

/// What a table is in memory and in a database.
fn both() -> [(Served, Option<tempfile::TempDir>); 2] {
    let folder = tempfile::tempdir().unwrap();
    let options = EngineOptions {
        database: Some(folder.path().join("lab.bonnet")),
        threads: Some(2),
        ..EngineOptions::default()
    };
    let lasting = Served::of(Engine::open(options).unwrap(), ServeOptions::default());
    [(Served::new(), None), (lasting, Some(folder))]
}

#[test]
fn tables_that_a_transaction_makes_go_with_it_and_take_rows() {
    for (served, _folder) in both() {
        let mut client = served.client();
        let made = "BEGIN; CREATE TABLE t (a BIGINT); INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3); \
                    UPDATE t SET a = 4 WHERE a = 3; DELETE FROM t WHERE a = 1; CREATE VIEW v AS SELECT max(a) AS m FROM t";
        assert_eq!(client.query(made).errors.len(), 0);
        assert_eq!(client.rows("SELECT m FROM v"), [["4"]]);
        assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
        for gone in ["t", "v"] {
            assert_eq!(client.query(&format!("SELECT * FROM {gone}")).error().code, "42P01", "{gone}");
        }
        // The same, kept.
        client.query(made);
        assert_eq!(client.query("COMMIT").tags, ["COMMIT"]);
        assert_eq!(client.rows("SELECT a FROM t ORDER BY a"), [["2"], ["4"]]);
        // A statement that fails takes all with it at the end.
        let reply = client.query("BEGIN; CREATE TABLE u AS SELECT 1 AS a; INSERT INTO u VALUES ('one')");
        assert_eq!(reply.status, Some(TransactionStatus::Error));
        assert_eq!(client.query("COMMIT").tags, ["ROLLBACK"]);
        assert_eq!(client.query("SELECT * FROM u").error().code, "42P01");
    }
}

#[test]
fn tables_that_a_transaction_drops_or_replaces_come_back() {
    for (served, _folder) in both() {
        let mut client = served.client();
        client.query(
            "CREATE TABLE t AS SELECT 7 AS a; CREATE VIEW v AS SELECT 8 AS a; CREATE TABLE kept AS SELECT 9 AS a",
        );
        let replaced = "BEGIN; DROP TABLE t; CREATE TABLE t (b VARCHAR); INSERT INTO t VALUES ('x'); DROP VIEW v; \
                        CREATE OR REPLACE TABLE kept AS SELECT 'y' AS c";
        assert_eq!(client.query(replaced).errors.len(), 0);
        assert_eq!(client.rows("SELECT b, c FROM t, kept"), [["x", "y"]]);
        assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
        assert_eq!(client.rows("SELECT t.a, v.a, kept.a FROM t, v, kept"), [["7", "8", "9"]]);
        // Rows go on where they were.
        assert_eq!(client.query("INSERT INTO t VALUES (1)").tags, ["INSERT 0 1"]);
        assert_eq!(client.rows("SELECT sum(a) FROM t"), [["8"]]);
    }
}

#[test]
fn rows_that_a_transaction_changes_are_put_back() {
    for (served, _folder) in both() {
        let mut client = served.client();
        client.query("CREATE TABLE t AS SELECT value AS a FROM generate_series(1, 1000)");
        let count = |client: &mut super::Client| client.rows("SELECT count(*), sum(a), min(a) FROM t").concat();
        let before = count(&mut client);
        // A load of many statements, as that of `to_sql`.
        client.query("BEGIN");
        for part in 0..20 {
            let load = format!("INSERT INTO t SELECT value FROM generate_series({part}, {part} + 99)");
            assert_eq!(client.query(&load).tags, ["INSERT 0 100"]);
        }
        assert_eq!(client.rows("SELECT count(*) FROM t"), [["3000"]]);
        assert_eq!(client.query("INSERT INTO t VALUES ('one')").status, Some(TransactionStatus::Error));
        assert_eq!(client.query("COMMIT").tags, ["ROLLBACK"]);
        assert_eq!(count(&mut client), before);
        // Changes of all kinds, of two tables, in turns.
        client.query("CREATE TABLE u AS SELECT 'x' AS b");
        let changes = "BEGIN; INSERT INTO t VALUES (0); UPDATE t SET a = a + 1 WHERE a > 500; DELETE FROM u; \
                       INSERT INTO t VALUES (-1); DELETE FROM t WHERE a < 10; INSERT INTO u VALUES ('y'), ('z'); TRUNCATE TABLE t";
        assert_eq!(client.query(changes).errors.len(), 0);
        assert_eq!(client.rows("SELECT count(*) FROM t"), [["0"]]);
        assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
        assert_eq!(count(&mut client), before);
        assert_eq!(client.rows("SELECT b FROM u"), [["x"]]);
        // What is kept stays, and goes on.
        client.query(
            "BEGIN; INSERT INTO u VALUES ('y'); UPDATE u SET b = 'w' WHERE b = 'x'; COMMIT; INSERT INTO u VALUES ('v')",
        );
        assert_eq!(client.rows("SELECT b FROM u ORDER BY b"), [["v"], ["w"], ["y"]]);
    }
}

#[test]
fn rows_that_another_session_changes_meanwhile_stay() {
    for (served, _folder) in both() {
        let (mut client, mut other) = (served.client(), served.client());
        client.query("CREATE TABLE t AS SELECT 1 AS a; CREATE TABLE u AS SELECT 1 AS a");
        client.query("BEGIN; INSERT INTO t VALUES (2); INSERT INTO u VALUES (2)");
        other.query("INSERT INTO t VALUES (3)");
        let reply = client.query("ROLLBACK");
        let message = &reply.error().message;
        assert!(
            message.contains("ROLLBACK could not put everything back: t: its rows have changed otherwise"),
            "{message}"
        );
        // What is nobody else's is undone.
        assert_eq!(
            client.rows("SELECT t, u FROM (SELECT count(*) AS t FROM t), (SELECT count(*) AS u FROM u)"),
            [["3", "1"]]
        );
    }
}

#[test]
fn other_changes_beside_those_that_can_be_undone_are_refused_before_they_are_made() {
    let served = Served::new();
    let mut client = served.client();
    client.query("CREATE TABLE old AS SELECT 1 AS a");
    let reply = client.query("BEGIN; CREATE TABLE t (a BIGINT); ALTER TABLE old ADD COLUMN b BIGINT");
    assert_eq!(reply.error().code, "0A000");
    assert!(reply.error().message.contains("ALTER changes something else"), "{reply:?}");
    assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
    assert_eq!(client.rows("SELECT * FROM old"), [["1"]]);
    assert_eq!(client.query("SELECT * FROM t").error().code, "42P01");
    // A table of another session by the same name is not taken for one's own.
    let mut other = served.client();
    client.query("BEGIN; CREATE TABLE t (a BIGINT)");
    other.query("DROP TABLE t; CREATE TABLE t AS SELECT 'theirs' AS a");
    let reply = client.query("ROLLBACK");
    assert!(reply.error().message.contains("ROLLBACK could not put everything back: t:"), "{reply:?}");
    assert_eq!(reply.status, Some(TransactionStatus::Idle));
    assert_eq!(other.rows("SELECT a FROM t"), [["theirs"]]);
    // What is prepared counts as what it does.
    client.query("PREPARE p AS INSERT INTO old VALUES ($1); BEGIN; EXECUTE p(5)");
    assert_eq!(client.query("ROLLBACK").tags, ["ROLLBACK"]);
    assert_eq!(client.rows("SELECT count(*) FROM old"), [["1"]]);
}

#[test]
fn a_client_that_leaves_within_a_transaction_leaves_nothing_behind() {
    let served = Served::new();
    let mut client = served.client();
    client.query("BEGIN; CREATE TABLE t AS SELECT 1 AS a");
    let mut other = served.client();
    assert_eq!(other.rows("SELECT a FROM t"), [["1"]]);
    drop(client);
    let gone = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !other.query("SELECT a FROM t").errors.is_empty()
    });
    assert!(gone);
}
