//! What use found: what is damaged is reported and hides nothing else, what is read-only stays as it is, and what may
//! still be read is not removed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{Db, Lab};

/// The same script gives the same rows in memory and in a database.
#[test]
fn views_follow_names_in_memory_as_in_a_database() {
    let lab = Lab::new();
    let (memory, lasting) = (Db::new(), lab.open());
    for db in [&memory, &lasting] {
        db.run("CREATE TABLE t AS SELECT 1 AS a");
        db.run("CREATE VIEW v AS SELECT * FROM t");
        db.run("CREATE VIEW w (b) AS SELECT a + 1 FROM v");
        db.run("CREATE OR REPLACE TABLE t AS SELECT 2 AS a");
        assert_eq!(
            db.rows("SELECT (SELECT a FROM t) AS t, (SELECT a FROM v) AS v, (SELECT b FROM w) AS w"),
            [["2", "2", "3"]]
        );
        db.run("CREATE OR REPLACE VIEW v AS SELECT a * 10 AS a FROM t");
        assert_eq!(db.rows("SELECT b FROM w"), [["21"]]);
        db.run("DROP TABLE t");
        db.refuses("SELECT a FROM v", &["t", "not found"]);
        db.refuses("DROP TABLE v", &["v is a view: DROP VIEW v"]);
        db.refuses("CREATE VIEW v AS SELECT 1 AS a", &["exists already"]);
        // A graph of views.
        db.run("CREATE TABLE pairs AS SELECT * FROM cycle(5)");
        db.run("CREATE SCHEMA g");
        db.run("CREATE VIEW g.edges AS SELECT src, dst FROM pairs");
        db.run("CREATE VIEW g.nodes AS SELECT DISTINCT src AS node FROM pairs");
        db.run("CREATE OR REPLACE TABLE pairs AS SELECT * FROM cycle(9)");
        assert_eq!(db.rows("SELECT graph, nodes, edges FROM bonnet.graphs"), [["g", "8", "9"]]);
    }
}

/// The folder of the only table of `main`.
fn table_folder(lab: &Lab) -> PathBuf {
    let mut folders: Vec<_> =
        std::fs::read_dir(lab.root().join("tables/main")).unwrap().map(|f| f.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    assert_eq!(folders.len(), 1);
    folders.remove(0)
}

#[test]
fn a_read_only_session_changes_no_database() {
    let (lab, other) = (Lab::new(), Lab::new());
    lab.open().run("CREATE TABLE t AS SELECT 1 AS a");
    other.open().run("CREATE TABLE t AS SELECT 1 AS a");
    lab.open().run(&format!("ATTACH '{}' AS known (TYPE bonnet)", other.root().display()));
    let db = lab.open_read_only();
    db.run(&format!("ATTACH '{}' AS again", lab.root().display()));
    db.run(&format!("ATTACH '{}' AS another", other.root().display()));
    for database in ["lab", "again", "another", "known"] {
        for sql in [
            "INSERT INTO X.main.t VALUES (2)",
            "UPDATE X.main.t SET a = 2",
            "DELETE FROM X.main.t",
            "CREATE TABLE X.main.u AS SELECT 1 AS a",
            "CREATE OR REPLACE TABLE X.main.t AS SELECT 1 AS a",
            "CREATE SCHEMA X.s",
            "CREATE GRAPH X.g AS cycle(3)",
            "DROP TABLE X.main.t",
            "OPTIMIZE X.main.t",
            "VACUUM X.main.t",
        ] {
            db.refuses(&sql.replace('X', database), &["cannot be changed", "reading alone"]);
        }
        db.run(&format!("USE {database}"));
        db.refuses("CREATE VIEW v AS SELECT 1 AS a", &["reading alone"]);
        db.refuses("VACUUM", &["reading alone"]);
    }
    // A folder of temporary files would be made at once.
    let inside = lab.root().join("temporary");
    db.refuses(&format!("SET datafusion.runtime.temp_directory = '{}'", inside.display()), &["is a database"]);
    assert!(!inside.exists());
    // Nor does one without a database of its own.
    let memory = Db::with(bonnetdb::EngineOptions { read_only: true, ..bonnetdb::EngineOptions::default() });
    memory.run(&format!("ATTACH '{}' AS other", other.root().display()));
    memory.refuses("INSERT INTO other.main.t VALUES (2)", &["reading alone"]);
    memory.run("CREATE TABLE t AS SELECT a FROM other.main.t");
    assert_eq!(lab.open().rows("SELECT a FROM t"), [["1"]]);
    assert_eq!(other.open().rows("SELECT a FROM t"), [["1"]]);
}

#[test]
fn an_empty_commit_is_an_error_and_nothing_goes_on_top() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.run("INSERT INTO t VALUES (2)");
    db.run("INSERT INTO t VALUES (3)");
    let commit = table_folder(&lab).join("_delta_log/00000000000000000002.json");
    let text = std::fs::read(&commit).unwrap();
    std::fs::write(&commit, "").unwrap();
    let file = "00000000000000000002.json' is empty";
    let fresh = lab.open();
    fresh.refuses("SELECT * FROM t", &[file]);
    fresh.refuses("INSERT INTO t VALUES (4)", &[file]);
    assert!(!commit.with_file_name("00000000000000000003.json").exists());
    std::fs::write(&commit, text).unwrap();
    assert_eq!(lab.open().value("SELECT sum(a) FROM t"), "6");
    // One that comes while the table is in use.
    let next = commit.with_file_name("00000000000000000003.json");
    assert_eq!(db.value("SELECT sum(a) FROM t"), "6");
    std::fs::write(&next, "").unwrap();
    db.refuses("SELECT * FROM t", &["00000000000000000003.json' is empty"]);
    db.refuses("INSERT INTO t VALUES (4)", &["00000000000000000003.json' is empty"]);
}

#[test]
fn a_damaged_entry_hides_no_other() {
    let lab = Lab::new();
    let db = lab.open();
    for name in ["a", "b", "c"] {
        db.run(&format!("CREATE TABLE {name} AS SELECT 1 AS x"));
    }
    db.run("CREATE SCHEMA s");
    db.run("CREATE TABLE s.t AS SELECT 1 AS x");
    drop(db);
    let catalog = lab.root().join("catalog");
    let folder = |schema: &str| {
        let found = std::fs::read_dir(&catalog).unwrap().map(|file| file.unwrap().path());
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{schema}-"));
        found.into_iter().find(name).unwrap()
    };
    std::fs::write(folder("main").join("b.json"), "{\"kind\": \"tab").unwrap();
    std::fs::write(catalog.join("s.json"), "").unwrap();
    let db = lab.open();
    let of_main = "WHERE table_catalog = 'lab' AND table_schema = 'main' ORDER BY 1";
    assert_eq!(
        db.rows(&format!("SELECT table_name FROM information_schema.tables {of_main}")).concat(),
        ["a", "b", "c"]
    );
    assert_eq!(db.rows(&format!("SELECT table_name FROM information_schema.columns {of_main}")).concat(), ["a", "c"]);
    let damaged = db.session.damaged();
    let names: Vec<&str> = damaged.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["lab.main.b", "lab.s"]);
    assert!(damaged[0].1.contains("b.json' is damaged"), "{damaged:?}");
    let listed = std::process::Command::new(env!("CARGO_BIN_EXE_bonnet"))
        .args([lab.root().to_str().unwrap(), "-c", "\\d"])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8(listed.stdout).unwrap(), String::from_utf8(listed.stderr).unwrap());
    assert!(listed.status.success() && out.contains("BASE TABLE"), "{out}{err}");
    assert!(format!("{out}{err}").contains("lab.main.b cannot be read: '"), "{out}{err}");
    db.refuses("SELECT * FROM b", &["b.json' is damaged"]);
    db.refuses("SELECT * FROM s.t", &["s.json' is damaged"]);
    // VACUUM would take its table for a dropped one.
    db.refuses("VACUUM RETAIN 0 HOURS", &["is damaged"]);
    // What is damaged can be forgotten.
    std::fs::remove_file(folder("main").join("b.json")).unwrap();
    db.run("DROP SCHEMA s CASCADE");
    assert!(db.session.damaged().is_empty());
    db.run("VACUUM RETAIN 0 HOURS");
    assert_eq!(db.rows("SELECT x FROM a UNION ALL SELECT x FROM c"), [["1"], ["1"]]);
}

#[test]
fn an_external_table_writes_no_file_into_a_database() {
    let lab = Lab::new();
    lab.open().run("CREATE TABLE t AS SELECT 1 AS a");
    let memory = Db::new();
    for (i, folder) in [lab.root().join("catalog"), lab.root(), table_folder(&lab)].iter().enumerate() {
        let before = std::fs::read_dir(folder).unwrap().count();
        memory.run(&format!("CREATE EXTERNAL TABLE x{i} (a BIGINT) STORED AS CSV LOCATION '{}/'", folder.display()));
        memory.refuses(&format!("INSERT INTO x{i} VALUES (1)"), &["whose files only its own statements change"]);
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), before);
    }
    let beside = lab.beside("rows");
    std::fs::create_dir(&beside).unwrap();
    memory.run(&format!("CREATE EXTERNAL TABLE x (a BIGINT) STORED AS CSV LOCATION '{beside}/'"));
    memory.run("INSERT INTO x VALUES (1), (2)");
    assert_eq!(memory.value("SELECT sum(a) FROM x"), "3");
}

#[test]
fn vacuum_keeps_what_was_dropped_this_week() {
    let lab = Lab::new();
    let (db, reader) = (lab.open(), lab.open());
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    reader.run("PREPARE q AS SELECT a FROM t");
    db.run("DROP TABLE t");
    let (folder, week) = (table_folder(&lab), Duration::from_secs(7 * 24 * 3600));
    db.run("VACUUM");
    assert!(folder.is_dir(), "a reader may be at work on it");
    // Dropped longer ago.
    let mark = std::fs::File::options().append(true).open(folder.with_extension("dropped")).unwrap();
    mark.set_modified(SystemTime::now() - week + Duration::from_secs(60)).unwrap();
    db.run("VACUUM");
    assert!(folder.is_dir());
    mark.set_modified(SystemTime::now() - week).unwrap();
    db.run("VACUUM");
    assert!(!folder.exists());
    // Replaced, and dropped with its schema: from then on the week counts, too.
    for statements in [
        ["CREATE TABLE t AS SELECT 1 AS a", "CREATE OR REPLACE TABLE t AS SELECT 2 AS a", "DROP TABLE t"],
        ["CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT 1 AS a", "DROP SCHEMA s CASCADE"],
        ["CREATE GRAPH g AS cycle(3)", "CREATE OR REPLACE GRAPH g AS cycle(4)", "DROP GRAPH g"],
    ] {
        for sql in statements {
            db.run(sql);
        }
    }
    let count = || {
        let parents = std::fs::read_dir(lab.root().join("tables")).unwrap().map(|parent| parent.unwrap().path());
        parents
            .flat_map(|parent| std::fs::read_dir(parent).unwrap())
            .filter(|f| f.as_ref().unwrap().path().is_dir())
            .count()
    };
    db.run("VACUUM");
    assert_eq!(count(), 7);
    db.run("VACUUM RETAIN 0 HOURS");
    assert_eq!(count(), 0);
    // A table that lost its entry without a word is found, and kept for a week as well.
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    let folder = table_folder(&lab);
    let main = std::fs::read_dir(lab.root().join("catalog")).unwrap().map(|file| file.unwrap().path());
    let main = main.into_iter().find(|path| path.is_dir()).unwrap();
    std::fs::remove_file(main.join("t.json")).unwrap();
    db.run("VACUUM");
    assert!(folder.is_dir() && folder.with_extension("dropped").is_file());
}

/// The marks that killed statements leave: of a table whose folder was not made yet, and of one that is in the catalog.
#[test]
fn vacuum_removes_the_marks_of_killed_statements() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    let table = table_folder(&lab);
    let marks =
        [table.with_extension("building"), table.with_file_name("u-1.building"), table.with_file_name("v-1.dropped")];
    for mark in &marks {
        std::fs::write(mark, "").unwrap();
    }
    // One that a statement holds stays.
    let held = std::fs::File::create(table.with_file_name("w-1.building")).unwrap();
    held.lock().unwrap();
    db.run("VACUUM RETAIN 0 HOURS");
    assert!(marks.iter().all(|mark| !mark.exists()));
    assert!(table.with_file_name("w-1.building").exists());
    assert_eq!(db.rows("SELECT a FROM t"), [["1"]]);
}
