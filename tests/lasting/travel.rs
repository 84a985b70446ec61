//! Tables as they were, their history, and their upkeep.

use super::{Db, Lab};

#[test]
fn a_table_is_read_as_it_was() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    let after_first = db.value("SELECT timestamp FROM bonnet.history('t')");
    std::thread::sleep(std::time::Duration::from_millis(5));
    db.run("INSERT INTO t VALUES (2)");
    db.run("UPDATE t SET a = a * 10 WHERE a = 2");
    db.run("DELETE FROM t WHERE a = 1");
    let db = lab.open();
    for (version, rows) in [("0", vec!["1"]), ("1", vec!["1", "2"]), ("2", vec!["1", "20"]), ("3", vec!["20"])] {
        let found = db.rows(&format!("SELECT a FROM t VERSION AS OF {version} ORDER BY a"));
        assert_eq!(found.concat(), rows, "version {version}");
    }
    assert_eq!(db.rows(&format!("SELECT a FROM t TIMESTAMP AS OF '{after_first}'")), [["1"]]);
    assert_eq!(db.rows("SELECT a FROM t TIMESTAMP AS OF '2100-01-01'"), [["20"]]);
    // Two versions of one table in one statement, under their aliases and in a view.
    let sql = "SELECT now.a - old.a FROM t AS now JOIN t VERSION AS OF 1 AS old ON now.a = old.a * 10";
    assert_eq!(db.rows(sql), [["18"]]);
    assert_eq!(db.rows("SELECT t.a FROM t VERSION AS OF 0"), [["1"]]);
    db.run("CREATE VIEW first AS SELECT a FROM t VERSION AS OF 0");
    assert_eq!(lab.open().rows("SELECT a FROM first"), [["1"]]);
    // The past can be copied, and does not change.
    db.run("CREATE TABLE old AS SELECT * FROM t VERSION AS OF 1");
    assert_eq!(db.value("SELECT count(*) FROM old"), "2");
    db.refuses("SELECT * FROM t VERSION AS OF 4", &["versions 0 to 3", "no version 4"]);
    db.refuses("SELECT * FROM t TIMESTAMP AS OF '2000-01-01'", &["did not exist then"]);
    db.refuses("SELECT * FROM t TIMESTAMP AS OF 'noon'", &["expected a time"]);
    db.refuses("SELECT * FROM nothing VERSION AS OF 0", &["nothing"]);
    db.refuses("SELECT * FROM first VERSION AS OF 0", &["keeps no history"]);
    db.run("CREATE TABLE memory.main.m AS SELECT 1 AS a");
    db.refuses("SELECT * FROM memory.main.m VERSION AS OF 0", &["keeps no history"]);
}

#[test]
fn the_history_has_a_row_a_commit() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.run("INSERT INTO t VALUES (2)");
    db.run("DELETE FROM t WHERE a = 2");
    db.run("DELETE FROM t WHERE a = 7");
    let rows = db.rows(
        "SELECT version, operation, parameters LIKE '%a = %2%', engine FROM bonnet.history('t') ORDER BY version",
    );
    let engine = concat!("bonnetdb ", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        rows,
        [["0", "CREATE TABLE", "false", engine], ["1", "WRITE", "false", engine], ["2", "DELETE", "true", engine]]
    );
    assert_eq!(
        db.rows("SELECT count(*) FROM bonnet.history(t) h WHERE h.timestamp > now() - interval '1 hour'"),
        [["3"]]
    );
    db.refuses("SELECT * FROM bonnet.history('nothing')", &["nothing"]);
    db.refuses("SELECT * FROM bonnet.history(bonnet.models)", &["keeps no history"]);
    Db::new().refuses("SELECT * FROM bonnet.history('t')", &["t"]);
}

#[test]
fn optimize_merges_files_and_keeps_the_rows() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 0 AS a");
    for i in 1..6 {
        db.run(&format!("INSERT INTO t VALUES ({i})"));
    }
    let before = db.rows("SELECT a FROM t ORDER BY a");
    db.run("OPTIMIZE t");
    assert_eq!(db.rows("SELECT a FROM t ORDER BY a"), before);
    assert_eq!(db.value("SELECT max(operation) FROM bonnet.history('t') WHERE version = 6"), "OPTIMIZE");
    assert_eq!(db.value("SELECT count(*) FROM t VERSION AS OF 2"), "3");
    db.refuses("OPTIMIZE nothing", &["there is no table nothing"]);
    db.run("CREATE VIEW v AS SELECT 1");
    db.refuses("OPTIMIZE v", &["nothing to do"]);
}

#[test]
fn vacuum_removes_the_past_and_what_was_dropped() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.run("UPDATE t SET a = 2");
    db.run("CREATE TABLE gone AS SELECT 1 AS a");
    db.run("CREATE GRAPH g AS cycle(3)");
    db.run("DROP TABLE gone");
    db.run("DROP GRAPH g");
    let folders = |schema: &str| match std::fs::read_dir(lab.root().join("tables").join(schema)) {
        Ok(files) => files.filter(|file| file.as_ref().unwrap().path().is_dir()).count(),
        Err(_) => 0,
    };
    assert_eq!((folders("main"), folders("g")), (2, 2));
    // A week is kept unless less is asked for.
    db.run("VACUUM");
    assert_eq!((folders("main"), folders("g")), (2, 2));
    db.run("VACUUM t");
    assert_eq!(db.value("SELECT a FROM t VERSION AS OF 0"), "1");
    db.run("VACUUM RETAIN 0 HOURS");
    assert_eq!((folders("main"), folders("g")), (1, 0));
    assert_eq!(db.rows("SELECT a FROM t"), [["2"]]);
    db.refuses("SELECT a FROM t VERSION AS OF 0", &["removed by VACUUM"]);
    db.run("INSERT INTO t VALUES (3)");
    assert_eq!(lab.open().value("SELECT sum(a) FROM t"), "5");
    Db::new().refuses("VACUUM", &["no lasting database"]);
}
