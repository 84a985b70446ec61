//! ALTER TABLE of lasting tables: columns come, go and change in one commit.

use super::Lab;

#[test]
fn columns_change_in_one_commit_and_the_past_keeps_its_own() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t (a INT DEFAULT 1, s TEXT)");
    db.run("INSERT INTO t VALUES (1, 'one'), (2, NULL)");
    db.run("INSERT INTO t (s) VALUES ('default')");
    db.run("ALTER TABLE t ADD COLUMN at TIMESTAMP DEFAULT '2024-01-31 10:00'");
    db.run("ALTER TABLE t RENAME COLUMN a TO n");
    db.run("INSERT INTO t (s) VALUES ('later')");
    let db = lab.open();
    let rows = [["1", "one"], ["2", "NULL"], ["1", "default"], ["1", "later"]];
    let found = db.rows("SELECT n, coalesce(s, 'NULL'), at = '2024-01-31 10:00' FROM t");
    assert_eq!(found.len(), rows.len());
    for [n, s] in rows {
        assert!(found.contains(&vec![n.to_owned(), s.to_owned(), "true".to_owned()]), "{found:?}");
    }
    db.run("ALTER TABLE t ALTER COLUMN n TYPE DOUBLE");
    db.run("UPDATE t SET n = 2.5 WHERE s = 'later'");
    db.run("ALTER TABLE t DROP COLUMN at");
    db.run("INSERT INTO t (n) VALUES (7)");
    let db = lab.open();
    assert_eq!(db.rows("SELECT sum(n), count(*), count(s) FROM t"), [["13.5", "5", "3"]]);
    assert_eq!(db.rows("SELECT * FROM t WHERE n = 7"), [["7.0", "NULL"]]);
    // A column that comes back is another one, without the default of the first.
    db.run("ALTER TABLE t ADD COLUMN at TEXT");
    db.run("INSERT INTO t (n) VALUES (8)");
    assert_eq!(db.value("SELECT count(at) FROM t"), "0");
    // The versions before have the columns that they had.
    assert_eq!(db.rows("SELECT a FROM t VERSION AS OF 1 ORDER BY a"), [["1"], ["2"]]);
    assert_eq!(db.value("SELECT count(at) FROM t VERSION AS OF 3"), "3");
    let operations = db.rows("SELECT operation FROM bonnet.history('t') ORDER BY version").concat();
    let expected = [
        "CREATE TABLE",
        "WRITE",
        "WRITE",
        "ADD COLUMN",
        "RENAME COLUMN",
        "WRITE",
        "CHANGE COLUMN",
        "UPDATE",
        "DROP COLUMN",
        "WRITE",
        "ADD COLUMN",
        "WRITE",
    ];
    assert_eq!(operations, expected);
}

#[test]
fn a_change_that_fails_leaves_the_table_as_it_was() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 'x' AS s, 1 AS a");
    for (sql, words) in [
        ("ALTER TABLE t ALTER COLUMN s TYPE INT", &["'x'"][..]),
        ("ALTER TABLE t ADD COLUMN a INT DEFAULT 5", &["has a column a already"]),
        ("ALTER TABLE t ADD COLUMN \"A\" INT", &["two columns named A"]),
        ("ALTER TABLE t ADD COLUMN r DOUBLE DEFAULT random()", &["is a constant"]),
        ("ALTER TABLE t ADD COLUMN \"a b\" INT", &["no spaces"]),
        ("ALTER TABLE t DROP COLUMN b", &["t has no column b: it has s, a"]),
    ] {
        db.refuses(sql, words);
    }
    let db = lab.open();
    db.run("INSERT INTO t (s) VALUES ('y')");
    assert_eq!(db.rows("SELECT * FROM t ORDER BY s"), [["x", "1"], ["y", "NULL"]]);
    assert_eq!(db.value("SELECT count(*) FROM bonnet.history('t')"), "2");
    db.run("VACUUM");
    assert_eq!(db.value("SELECT count(*) FROM t"), "2");
    lab.open_read_only().refuses("ALTER TABLE t DROP COLUMN a", &["read"]);
}
