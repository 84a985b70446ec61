//! Several databases at once, and the tables of other programs.

use std::process::Command;

use super::{Db, Lab};

#[test]
fn another_database_is_attached_joined_and_written() {
    let (lab, other) = (Lab::new(), Lab::new());
    other.open().run("CREATE TABLE t AS SELECT 1 AS a");
    other.open().run("CREATE VIEW v AS SELECT a + 1 AS a FROM t");
    let path = other.root().display().to_string();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a, 'here' AS place");
    db.run(&format!("ATTACH '{path}' AS other (TYPE bonnet)"));
    assert_eq!(db.rows("SELECT place FROM t JOIN other.main.t o ON t.a = o.a"), [["here"]]);
    // A view of another database reads that one's tables.
    assert_eq!(db.rows("SELECT * FROM other.v"), [["2"]]);
    db.run("INSERT INTO other.main.t SELECT a + 1 FROM t");
    db.run("CREATE TABLE other.main.copied AS SELECT place FROM t");
    db.refuses("CREATE VIEW other.main.w AS SELECT 1", &["USE other.main first"]);
    assert_eq!(other.open().rows("SELECT sum(a) FROM t"), [["3"]]);
    assert_eq!(other.open().rows("SELECT * FROM copied"), [["here"]]);
    // It is remembered, without TYPE as well.
    let db = lab.open();
    assert_eq!(db.value("SELECT count(*) FROM other.main.t VERSION AS OF 0"), "1");
    db.run("DETACH other");
    db.refuses("SELECT * FROM other.main.t", &["other"]);
    db.run(&format!("ATTACH '{path}' AS other (READ_ONLY)"));
    db.refuses("INSERT INTO other.main.t VALUES (9)", &["reading alone"]);
    db.run("USE other");
    assert_eq!(db.value("SELECT sum(a) FROM t"), "3");
    let db = lab.open();
    db.refuses("DROP TABLE other.main.t", &["reading alone"]);
    db.refuses(&format!("ATTACH '{path}x' AS x (TYPE bonnet)"), &["is no database"]);
    db.refuses(&format!("ATTACH '{path}' AS x (TYPE bonnet, depth 3)"), &["no option depth"]);
}

#[test]
fn what_was_attached_and_is_gone_says_so_when_it_is_read() {
    let lab = Lab::new();
    let db = lab.open();
    let folder = lab.beside("graphs");
    std::fs::create_dir(&folder).unwrap();
    for name in ["a", "b"] {
        std::fs::write(format!("{folder}/{name}.edges"), "0 1\n1 2\n").unwrap();
    }
    db.run(&format!("ATTACH '{folder}' AS many"));
    db.run(&format!("ATTACH '{folder}/a.edges' AS one"));
    assert_eq!(db.value("SELECT count(*) FROM many.a.edges"), "2");
    let db = lab.open();
    assert_eq!(db.value("SELECT count(*) FROM many.b.edges"), "2");
    assert_eq!(db.value("SELECT count(*) FROM one.edges"), "2");
    std::fs::remove_dir_all(&folder).unwrap();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    assert_eq!(db.rows("SELECT * FROM t"), [["1"]]);
    db.refuses("SELECT * FROM many.a.edges", &["many", "graphs"]);
    db.refuses("SELECT * FROM one.edges", &["a.edges"]);
    db.run("DETACH one");
    db.run("DETACH many");
    db.refuses("SELECT * FROM one.edges", &["one"]);
}

#[test]
fn a_relative_path_is_remembered_as_an_absolute_one() {
    let lab = Lab::new();
    std::fs::write(lab.beside("g.edges"), "0 1\n").unwrap();
    let run = |folder: &std::path::Path, sql: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_bonnet"))
            .args([lab.root().to_str().unwrap(), "--format", "csv", "--quiet", "-c", sql])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(lab.folder.path(), "ATTACH 'g.edges' AS g");
    assert_eq!(run("/".as_ref(), "SELECT count(*) AS n FROM g.edges"), "n\n1\n");
}

#[test]
fn delta_tables_of_other_programs_are_read_with_their_history() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.run("INSERT INTO t VALUES (2)");
    let folder = std::fs::read_dir(lab.root().join("tables/main")).unwrap().next().unwrap().unwrap().path();
    let folder = folder.display();
    let db = Db::new();
    assert_eq!(db.rows(&format!("SELECT sum(a) FROM '{folder}'")), [["3"]]);
    assert_eq!(db.rows(&format!("SELECT sum(a) FROM '{folder}' VERSION AS OF 0")), [["1"]]);
    assert_eq!(db.rows(&format!("SELECT count(*) FROM bonnet.history('\"{folder}\"')")), [["2"]]);
    db.run(&format!("ATTACH '{}' AS d (TYPE delta)", lab.root().join("tables/main").display()));
    let name = db
        .value("SELECT table_name FROM information_schema.tables WHERE table_catalog = 'd' AND table_schema = 'main'");
    assert_eq!(db.rows(&format!("SELECT sum(a) FROM d.{name} VERSION AS OF 0")), [["1"]]);
    db.refuses(&format!("INSERT INTO d.main.{name} VALUES (3)"), &["another program"]);
    db.refuses(&format!("DELETE FROM d.main.{name}"), &["another program"]);
    db.refuses("CREATE TABLE d.main.u AS SELECT 1 AS x", &["for reading"]);
}

#[test]
fn files_of_a_format_are_attached_as_tables() {
    let lab = Lab::new();
    let db = lab.open();
    let folder = lab.beside("files");
    std::fs::create_dir(&folder).unwrap();
    db.run("CREATE TABLE t AS SELECT value AS a, 'x' AS b FROM generate_series(1, 3)");
    for ending in ["parquet", "csv", "json", "arrow"] {
        db.run(&format!("COPY t TO '{folder}/runs.{ending}'"));
    }
    for format in ["parquet", "csv", "json", "arrow"] {
        db.run(&format!("ATTACH '{folder}' AS {format}_files (TYPE {format})"));
    }
    let db = lab.open();
    for format in ["parquet", "csv", "json", "arrow"] {
        let sql = format!("SELECT count(*), sum(a), min(b) FROM {format}_files.runs");
        assert_eq!(db.rows(&sql), [["3", "6", "x"]], "{format}");
    }
    assert_eq!(db.rows("SELECT count(*) FROM t JOIN csv_files.runs r ON t.a = r.a"), [["3"]]);
    let empty = format!("{folder}/empty");
    std::fs::create_dir(&empty).unwrap();
    db.refuses(&format!("ATTACH '{empty}' AS x (TYPE csv)"), &["holds no csv file"]);
    std::fs::write(format!("{empty}/a.avro"), "Obj\u{1}").unwrap();
    db.refuses(&format!("FROM '{empty}/a.avro'"), &["a.avro': Avro files are not read", "Parquet"]);
    db.refuses("ATTACH 'nothing' AS x (TYPE csv)", &["nothing"]);
}

#[test]
#[cfg(feature = "sqlite")]
fn tables_of_sqlite_are_joined_with_ours() {
    let lab = Lab::new();
    // Python's own SQLite writes the file.
    let path = lab.beside("notes.db");
    let script = "import sqlite3, sys\n\
        c = sqlite3.connect(sys.argv[1])\n\
        c.execute('CREATE TABLE papers (id INTEGER, title TEXT, score REAL, \"Odd Name\" BOOLEAN)')\n\
        c.executemany('INSERT INTO papers VALUES (?, ?, ?, ?)', [(1, None, 0.5, 1), (2, \"it''s\", None, 0), (3, 'ü', 2, None)])\n\
        c.execute('CREATE VIEW good AS SELECT id FROM papers WHERE score > 1')\n\
        c.commit()\n";
    let written = Command::new("python3").args(["-c", script, &path]).status();
    if !written.is_ok_and(|status| status.success()) {
        assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "python3 is absent");
        println!("skipped: python3 is absent");
        return;
    }
    let before = std::fs::read(&path).unwrap();
    let db = lab.open();
    db.run("CREATE TABLE mine AS SELECT 2 AS id, 'here' AS place UNION ALL SELECT 3, 'there'");
    db.run(&format!("ATTACH '{path}' AS notes"));
    let db = lab.open();
    assert_eq!(
        db.rows("SELECT * FROM notes.papers ORDER BY id"),
        [["1", "NULL", "0.5", "true"], ["2", "it''s", "NULL", "false"], ["3", "ü", "2.0", "NULL"]]
    );
    assert_eq!(
        db.rows("SELECT place, title FROM mine JOIN notes.papers p USING (id) WHERE score > 1"),
        [["there", "ü"]]
    );
    assert_eq!(db.rows("SELECT * FROM notes.good"), [["3"]]);
    assert_eq!(db.value("SELECT count(*) FROM notes.papers"), "3");
    db.refuses("INSERT INTO notes.main.papers VALUES (4, 'x', 1, true)", &[]);
    db.refuses("DROP TABLE notes.main.papers", &["for reading"]);
    db.refuses("SELECT * FROM notes.nothing", &["nothing"]);
    assert_eq!(std::fs::read(&path).unwrap(), before, "the file of another program is changed");
    assert!(!std::path::Path::new(&format!("{path}-wal")).exists());
    std::fs::write(lab.beside("bad.db"), b"SQLite format 3\0 rubbish that is no database").unwrap();
    db.refuses(&format!("ATTACH '{}' AS bad", lab.beside("bad.db")), &["bad.db"]);
}

#[test]
#[cfg(feature = "sqlite")]
fn conditions_on_tables_of_sqlite_are_ours() {
    let lab = Lab::new();
    let path = lab.beside("words.db");
    // A column that ignores case, one whose type takes anything, and a row whose value is none of its column's type.
    let script = "import sqlite3, sys\n\
        c = sqlite3.connect(sys.argv[1])\n\
        c.execute('CREATE TABLE words (id INTEGER, word TEXT COLLATE NOCASE, day DATE, data BLOB)')\n\
        c.executemany('INSERT INTO words VALUES (?, ?, ?, ?)', \
            [(1, 'Ant', '2020-01-01', b'x'), (2, 'ant', 7, 'y'), (3, 'Bee', None, None), (4, 'bee', 1.5, None)])\n\
        c.execute('CREATE TABLE odd (n INTEGER, b BOOLEAN)')\n\
        c.executemany('INSERT INTO odd VALUES (?, ?)', [(1, 'true'), (2.0, 0), ('abc', 1)])\n\
        c.execute('CREATE VIEW even AS SELECT CAST(n AS TEXT) AS n, b FROM odd')\n\
        c.execute('CREATE VIEW slow AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) \
            SELECT max(x) AS x FROM t')\n\
        c.commit()\n";
    let written = Command::new("python3").args(["-c", script, &path]).status();
    if !written.is_ok_and(|status| status.success()) {
        assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "python3 is absent");
        println!("skipped: python3 is absent");
        return;
    }
    let db = lab.open();
    db.run(&format!("ATTACH '{path}' AS w"));
    for (condition, ids) in [
        ("word = 'ant'", vec!["2"]),
        ("word >= 'a'", vec!["2", "4"]),
        ("word LIKE 'A%'", vec!["1"]),
        ("word IN ('Bee', 'ant') AND id < 3", vec!["2"]),
        ("id BETWEEN 2 AND 3 OR word = 'Ant'", vec!["1", "2", "3"]),
        ("day = '7'", vec!["2"]),
        ("day < '2'", vec!["4"]),
        ("day IS NULL", vec!["3"]),
        ("id <> 1 AND lower(word) = 'bee'", vec!["3", "4"]),
    ] {
        let rows = db.rows(&format!("SELECT id FROM w.words WHERE {condition} ORDER BY id"));
        assert_eq!(rows.concat(), ids, "{condition}");
        let count = db.value(&format!("SELECT count(*) FROM w.words WHERE {condition}"));
        assert_eq!(count, ids.len().to_string(), "{condition}");
    }
    assert_eq!(db.rows("SELECT day FROM w.words ORDER BY id"), [["2020-01-01"], ["7"], ["NULL"], ["1.5"]]);
    assert_eq!(db.rows("SELECT id FROM w.words LIMIT 2").len(), 2);
    assert_eq!(db.value("SELECT octet_length(data) FROM w.words WHERE id = 2"), "1");
    // Whole numbers and words for truth fit their columns; another word does not, and the way round it is said.
    assert_eq!(db.rows("SELECT b FROM w.odd LIMIT 2"), [["true"], ["false"]]);
    let said = ["odd.n is declared INTEGER, but a row holds the string 'abc'", "CAST(\"n\" AS TEXT)"];
    db.refuses("SELECT sum(n) FROM w.odd", &said);
    assert_eq!(db.rows("SELECT n FROM w.even"), [["1"], ["2"], ["abc"]]);
    // A view that never answers ends with its statement.
    db.run("SET bonnet.statement_timeout = '1s'");
    db.refuses("SELECT x FROM w.slow", &["ran past bonnet.statement_timeout"]);
}

#[test]
#[cfg(not(feature = "postgres"))]
fn a_database_without_its_feature_says_which_is_missing() {
    let db = Db::new();
    let error = db.error("ATTACH 'postgres://me:secret@host/db' AS p (TYPE postgres)");
    assert!(error.contains("feature postgres") && !error.contains("secret"), "{error}");
}
