//! Memory is bounded by the engine's limit, and comes back.

use bonnetdb::EngineOptions;

use crate::Db;

/// An engine with so many MiB.
fn limited(mebibytes: usize) -> Db {
    Db::with(EngineOptions { threads: Some(2), memory_limit: Some(mebibytes << 20), ..EngineOptions::default() })
}

#[test]
fn rows_of_a_table_in_memory_count_against_the_limit() {
    let db = limited(32);
    db.refuses("CREATE TABLE big AS SELECT value FROM generate_series(1, 10000000)", &["table big"]);
    db.refuses("SELECT * FROM big", &["big"]);

    db.run("CREATE TABLE small AS SELECT value FROM generate_series(1, 1000000)");
    db.refuses("INSERT INTO small SELECT value FROM generate_series(1, 10000000)", &["table small"]);
    assert_eq!(db.value("SELECT count(*) FROM small"), "1000000", "a refused INSERT leaves nothing behind");
}

#[test]
fn dropped_and_deleted_rows_give_their_memory_back() {
    let db = limited(32);
    for _ in 0..4 {
        db.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 3000000)");
        db.run("DROP TABLE t");
    }
    db.run("CREATE TABLE t (value BIGINT)");
    for _ in 0..4 {
        db.run("INSERT INTO t SELECT value FROM generate_series(1, 2000000)");
        assert_eq!(db.value("SELECT count(*) FROM t"), "2000000");
        db.run("DELETE FROM t");
    }
}

#[test]
fn a_deletion_or_update_happens_when_it_runs_and_not_when_it_is_explained() {
    let db = Db::new();
    db.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 10)");
    db.run("EXPLAIN DELETE FROM t");
    db.run("EXPLAIN UPDATE t SET value = 0");
    assert_eq!(db.value("SELECT sum(value) FROM t"), "55");
    db.run("UPDATE t SET value = value * 2 WHERE value > 8");
    db.run("DELETE FROM t WHERE value = 1");
    assert_eq!(db.rows("SELECT count(*), sum(value) FROM t"), [["9", "73"]]);
}

#[test]
fn a_graph_that_is_made_counts_against_the_limit() {
    let db = limited(16);
    db.refuses("CREATE GRAPH g AS cycle(2000000)", &["CREATE GRAPH: no room", "memory"]);
    db.run("CREATE GRAPH g AS cycle(1000)");
}

#[test]
fn edges_that_are_made_as_they_are_read_hold_no_more_than_some_blocks() {
    let db = limited(16);
    // 4,194,304 edges are 64 MiB.
    assert_eq!(db.value("SELECT count(*) FROM kronecker_edges(18) WHERE src >= 0 AND dst >= 0"), "4194304");
    db.refuses("CREATE TABLE t AS SELECT * FROM kronecker_edges(18)", &["table t", "memory"]);
}
