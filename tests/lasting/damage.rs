//! Databases whose files are damaged: the error names the file and says what helps, what is not damaged goes on, and nothing is
//! removed that belongs to what cannot be read.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Db, Lab};

/// What is in a folder, in order.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    found.sort();
    found
}

/// The only thing in a folder whose name begins so.
fn begins(folder: &Path, name: &str) -> PathBuf {
    let is_it = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(name);
    let mut found: Vec<_> = inside(folder).into_iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

impl Lab {
    /// The folder of a table of the schema `main`.
    fn table(&self, name: &str) -> PathBuf {
        let tables = self.root().join("tables/main");
        inside(&tables)
            .into_iter()
            .find(|path| path.extension().is_none() && path.file_name().unwrap().to_str().unwrap().starts_with(name))
            .unwrap()
    }

    /// The file of an entry of the schema `main`.
    fn entry(&self, name: &str) -> PathBuf {
        begins(&self.root().join("catalog"), "main-").join(format!("{name}.json"))
    }
}

fn commit(table: &Path, version: u64) -> PathBuf {
    table.join(format!("_delta_log/{version:020}.json"))
}

/// The data file that a commit added.
fn added(table: &Path, version: u64) -> PathBuf {
    let text = fs::read_to_string(commit(table, version)).unwrap();
    let (_, path) = text.split_once("{\"add\":{\"path\":\"").unwrap();
    table.join(path.split('"').next().unwrap())
}

/// A way to damage the file or folder at a path.
type Damage = fn(&Path);

fn away(path: &Path) {
    match path.is_dir() {
        true => fs::remove_dir_all(path).unwrap(),
        false => fs::remove_file(path).unwrap(),
    }
}

fn empty(path: &Path) {
    away(path);
    fs::write(path, "").unwrap();
}

fn folder(path: &Path) {
    away(path);
    fs::create_dir(path).unwrap();
}

#[cfg(unix)]
fn broken_link(path: &Path) {
    away(path);
    std::os::unix::fs::symlink("nothing", path).unwrap();
}

#[cfg(unix)]
fn link_to_itself(path: &Path) {
    away(path);
    std::os::unix::fs::symlink(path, path).unwrap();
}

/// A database with `a` (two rows more in each of three versions, in a file each: the log knows a single row), `b`, whose past VACUUM removes, and `gone`, which was dropped.
fn lab() -> Lab {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE a AS SELECT value AS x FROM generate_series(1, 2)");
    db.run("INSERT INTO a VALUES (3), (4)");
    db.run("INSERT INTO a VALUES (5), (6)");
    db.run("CREATE TABLE b AS SELECT 1 AS x");
    db.run("UPDATE b SET x = 2");
    db.run("CREATE TABLE gone AS SELECT 1 AS x");
    db.run("DROP TABLE gone");
    lab
}

#[test]
#[cfg(unix)]
fn a_damaged_entry_is_named_and_vacuum_goes_on_past_it() {
    let outside: Damage = |path| fs::write(path, r#"{"kind": "table", "folder": "../../outside"}"#).unwrap();
    let of_schema: Damage = |path| fs::write(path, r#"{"kind": "schema", "folder": "x"}"#).unwrap();
    let damages: [(Damage, &str); 6] = [
        (empty, "is damaged: it is empty"),
        (folder, "is a folder, where the catalog has a file"),
        (broken_link, "is a link to what is not there"),
        (link_to_itself, "cannot be read: Too many levels of symbolic links (os error 40)"),
        (outside, "is damaged: it names the folder '../../outside', which is none of the database"),
        (of_schema, "is damaged: it is the entry of a schema"),
    ];
    for (damage, what) in damages {
        let lab = lab();
        damage(&lab.entry("a"));
        let db = lab.open();
        let entry = lab.entry("a");
        let is_folder = entry.is_dir();
        let remedy = match is_folder {
            true => "move it away",
            false => {
                "restore it from a copy of the database, or DROP TABLE a forgets it, and VACUUM removes its files a week later"
            }
        };
        let reason = format!("'{}' {what}; {remedy}", entry.display());
        for sql in ["SELECT * FROM a", "INSERT INTO a VALUES (4)", "VACUUM a", "OPTIMIZE a"] {
            assert_eq!(db.error(sql), format!("a cannot be read: {reason}"), "{sql}");
        }
        // Nothing else is hidden, and the name is taken.
        assert_eq!(db.rows("SELECT x FROM b"), [["2"]]);
        assert_eq!(db.session.damaged(), [("lab.main.a".to_owned(), reason.clone())]);
        let listed = db.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1");
        assert_eq!(listed, [["a"], ["b"]]);
        assert!(db.rows("SELECT graph FROM bonnet.graphs").is_empty());
        db.refuses("ALTER TABLE b RENAME TO a", &["exists already"]);
        // VACUUM removes what it can, but nothing that may belong to it.
        let (table, dropped) = (lab.table("a"), lab.table("gone"));
        let error = db.error("VACUUM RETAIN 0 HOURS");
        let expected = format!(
            "VACUUM: 1 files of other tables and 0 dropped tables were removed; lab.main.a cannot be read: {reason}"
        );
        assert_eq!(error, expected);
        assert!(table.is_dir() && dropped.is_dir());
        db.refuses("SELECT x FROM b VERSION AS OF 0", &["removed by VACUUM"]);
        if is_folder {
            db.refuses("DROP TABLE a", &["is a folder, where the catalog has a file: move it away"]);
            away(&entry);
        } else {
            db.run("DROP TABLE a");
        }
        assert!(db.session.damaged().is_empty());
        db.run("VACUUM RETAIN 0 HOURS");
        assert!(!table.exists() && !dropped.exists() && !lab.root().join("outside").exists());
        db.run("CREATE TABLE a AS SELECT 5 AS x");
        assert_eq!(db.rows("SELECT x FROM a"), [["5"]]);
    }
}

#[test]
fn a_schema_without_its_entries_says_what_is_gone_and_keeps_its_files() {
    for damage in [away as Damage, |path: &Path| {
        away(path);
        fs::write(path, "").unwrap();
    }] {
        for schema in ["main", "s"] {
            for of_entry in [false, true] {
                let lab = lab();
                lab.open().run("CREATE SCHEMA s");
                lab.open().run("CREATE TABLE s.t AS SELECT 1 AS x");
                let catalog = lab.root().join("catalog");
                let path = match of_entry {
                    true => catalog.join(format!("{schema}.json")),
                    false => begins(&catalog, &format!("{schema}-")),
                };
                damage(&path);
                let db = lab.open();
                // A schema without an entry is none, but for the one that every database has.
                let dropped = of_entry && schema == "s" && !path.exists();
                let (table, other) = if schema == "s" { ("s.t", "main.b") } else { ("main.b", "s.t") };
                db.run(&format!("SELECT x FROM {other}"));
                db.run(&format!("CREATE TABLE {other}2 AS SELECT 1 AS x"));
                let select = db.error(&format!("SELECT x FROM {table}"));
                if dropped {
                    assert!(select.contains("'lab.s.t' not found") || select.contains("s.t"), "{select}");
                    continue;
                }
                let what = match (of_entry, path.exists()) {
                    (false, false) => format!("the folder of its tables, '{}', is gone", path.display()),
                    (false, true) => {
                        format!("the folder of its tables, '{}', is a file, where a folder has to be", path.display())
                    }
                    (true, false) => format!("its entry '{}' is gone", path.display()),
                    (true, true) => format!("'{}' is damaged: it is empty", path.display()),
                };
                let remedy = match schema {
                    "main" => "restore it from a copy of the database",
                    _ => "restore it from a copy of the database, or DROP SCHEMA s CASCADE gives it up with its tables",
                };
                assert_eq!(select, format!("the schema {schema} cannot be read: {what}; {remedy}"));
                assert_eq!(db.error(&format!("CREATE TABLE {table}2 AS SELECT 1 AS x")), select);
                assert_eq!(db.session.damaged(), [(format!("lab.{schema}"), format!("{what}; {remedy}"))]);
                let kept =
                    || inside(&lab.root().join("tables")).iter().map(|parent| inside(parent).len()).sum::<usize>();
                let before = kept();
                let error = db.error("VACUUM RETAIN 0 HOURS");
                assert!(
                    error.contains(&format!("0 dropped tables were removed; lab.{schema} cannot be read: ")),
                    "{error}"
                );
                assert_eq!(kept(), before);
                if schema == "s" {
                    db.run("DROP SCHEMA s CASCADE");
                    db.run("VACUUM RETAIN 0 HOURS");
                    assert!(db.session.damaged().is_empty() && kept() < before);
                }
            }
        }
    }
}

#[test]
fn a_database_opens_though_the_entry_of_an_attached_one_is_damaged() {
    let (lab, other) = (lab(), Lab::new());
    other.open().run("CREATE TABLE t AS SELECT 1 AS x");
    lab.open().run(&format!("ATTACH '{}' AS other (TYPE bonnet)", other.root().display()));
    let entry = lab.root().join("attached/other.json");
    fs::write(&entry, "{").unwrap();
    let db = lab.open();
    assert_eq!(db.rows("SELECT x FROM b"), [["2"]]);
    let what = format!("other is attached, but its entry, '{}' is damaged: ", entry.display());
    db.refuses("SELECT * FROM other.main.t", &[&what, "; DETACH other forgets it"]);
    db.run("VACUUM");
    db.run("DETACH other");
    assert!(!entry.exists());
    assert!(lab.open().session.damaged().is_empty());
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_read_is_told_from_one_that_is_gone() {
    let loops = "cannot be read: Too many levels of symbolic links (os error 40)";
    let (give_up, mend) = ("give the table up: DROP TABLE a", "make it readable");
    let damages: [(Damage, &str, &str); 4] = [
        (away, "is gone", give_up),
        (empty, "is a file, where a folder has to be", mend),
        (broken_link, "is a link to what is not there", mend),
        (link_to_itself, loops, mend),
    ];
    for (damage, what, remedy) in damages {
        for of_log in [false, true] {
            let lab = lab();
            let known = lab.open();
            known.run("SELECT sum(x) FROM a");
            let path = if of_log { lab.table("a").join("_delta_log") } else { lab.table("a") };
            damage(&path);
            let reason = format!("'{}' {what}; restore it from a copy, or {remedy}", path.display());
            for db in [&lab.open(), &known] {
                for sql in ["SELECT * FROM a", "INSERT INTO a VALUES (4)", "DELETE FROM a", "VACUUM a"] {
                    assert_eq!(db.error(sql), format!("a cannot be read: {reason}"), "{sql}");
                }
                assert_eq!(db.session.damaged(), [("lab.main.a".to_owned(), reason.clone())]);
                assert_eq!(db.rows("SELECT x FROM b"), [["2"]]);
            }
            let error = known.error("VACUUM RETAIN 0 HOURS");
            assert!(
                error.ends_with(&format!("1 dropped tables were removed; lab.main.a cannot be read: {reason}")),
                "{error}"
            );
        }
    }
}

#[test]
fn a_damaged_commit_is_named_with_what_helps() {
    let garbled: Damage = |path| fs::write(path, [0; 300]).unwrap();
    let cut: Damage = |path| {
        let text = fs::read(path).unwrap();
        fs::write(path, &text[..text.len() - 20]).unwrap();
    };
    let no_action: Damage = |path| fs::write(path, "{\"add\":{\"path\":5}}").unwrap();
    let damages: [(Damage, &str); 6] = [
        (away, "is gone"),
        (empty, "is empty"),
        (folder, "cannot be read: Is a directory (os error 21)"),
        (garbled, "is damaged in line 1"),
        (cut, "ends within an action, in line 2"),
        (no_action, "is damaged in line 1"),
    ];
    for (damage, what) in damages {
        for version in [1, 2] {
            // Without the latest the table is one of the version before.
            if version == 2 && what == "is gone" {
                continue;
            }
            let lab = lab();
            let path = commit(&lab.table("a"), version);
            damage(&path);
            let db = lab.open();
            let error = db.error("SELECT sum(x) FROM a");
            assert!(
                error.starts_with(&format!("a cannot be read: '{}' {what}; restore it from a copy", path.display())),
                "{error}"
            );
            for sql in ["INSERT INTO a VALUES (4)", "VACUUM a", "SELECT * FROM bonnet.history('a')"] {
                assert_eq!(db.error(sql), error, "{sql}");
            }
            assert!(!commit(&lab.table("a"), 3).exists());
            assert_eq!(db.rows("SELECT x FROM b"), [["2"]]);
            // What the error says helps.
            let helps = match version {
                1 if what == "is gone" => "remove all later commits to go back to version 0, without what they changed",
                1 => "remove it and all later commits to go back to version 0",
                _ => "remove it to go on from version 1, without what it changed",
            };
            assert!(error.ends_with(&format!("; restore it from a copy, or {helps}")), "{error}");
            for version in (version..=2).filter(|version| commit(&lab.table("a"), *version).exists()) {
                away(&commit(&lab.table("a"), version));
            }
            let left = if version == 1 { "3" } else { "10" };
            assert_eq!(lab.open().value("SELECT sum(x) FROM a"), left, "{what}");
        }
    }
}

/// A commit that ends at the end of one of its lines is one of the protocol, with fewer actions.
#[test]
fn a_commit_that_was_cut_at_the_end_of_a_line_is_noticed() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS x");
    for sql in [
        "INSERT INTO t VALUES (2)",
        "UPDATE t SET x = x + 10 WHERE x = 1",
        "DELETE FROM t WHERE x = 2",
        "INSERT INTO t SELECT value FROM generate_series(1, 3)",
    ] {
        db.run(sql);
    }
    let table = lab.table("t");
    for version in 0..=4 {
        let path = commit(&table, version);
        let whole = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        assert!(lines.len() > 1);
        for left in 1..lines.len() {
            for ending in ["", "\n"] {
                fs::write(&path, lines[..left].join("\n") + ending).unwrap();
                let what = format!("has {left} of its {} actions: it was cut off", lines.len());
                for sql in ["SELECT sum(x) FROM t", "INSERT INTO t VALUES (9)"] {
                    lab.open().refuses(sql, &[&format!("t cannot be read: '{}' {what}", path.display())]);
                }
            }
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(lab.open().value("SELECT sum(x) FROM t"), "17");
    // One that comes while the table is in use.
    assert_eq!(db.value("SELECT sum(x) FROM t"), "17");
    let text = fs::read_to_string(commit(&table, 4)).unwrap();
    fs::write(commit(&table, 5), text.lines().next().unwrap()).unwrap();
    db.refuses("SELECT sum(x) FROM t", &["00000000000000000005.json' has 1 of its 2 actions"]);
    db.refuses("INSERT INTO t VALUES (9)", &["00000000000000000005.json' has 1 of its 2 actions"]);
    fs::remove_file(commit(&table, 5)).unwrap();
    // A version of the past, whose commits nothing else reads.
    fs::write(commit(&table, 3), "").unwrap();
    db.refuses(
        "SELECT sum(x) FROM t VERSION AS OF 3",
        &["003.json' is empty; restore it from a copy, or read another version"],
    );
    assert_eq!(db.value("SELECT sum(x) FROM t VERSION AS OF 2"), "13");
}

#[test]
fn a_damaged_checkpoint_is_named_and_the_commits_take_its_place() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 0 AS x");
    for i in 1..=102 {
        db.run(&format!("INSERT INTO t VALUES ({i})"));
    }
    let log = lab.table("t").join("_delta_log");
    let checkpoint = log.join("00000000000000000099.checkpoint.parquet");
    let whole = fs::read(&checkpoint).unwrap();
    for (bytes, what) in [
        (None, "is gone"),
        (Some(Vec::new()), "is empty"),
        (Some(whole[..whole.len() / 2].to_vec()), "is damaged: "),
        (Some(vec![0; whole.len()]), "is damaged: "),
    ] {
        match bytes {
            Some(bytes) => fs::write(&checkpoint, bytes).unwrap(),
            None => fs::remove_file(&checkpoint).unwrap(),
        }
        let error = lab.open().error("SELECT sum(x) FROM t");
        assert!(error.starts_with(&format!("t cannot be read: '{}' {what}", checkpoint.display())), "{error}");
        let helps =
            "restore it from a copy, or remove it and the file _last_checkpoint: the commits before it are all there";
        assert!(error.ends_with(helps), "{error}");
    }
    fs::remove_file(&checkpoint).unwrap();
    fs::remove_file(log.join("_last_checkpoint")).unwrap();
    assert_eq!(lab.open().value("SELECT sum(x) FROM t"), "5253");
    // With the first commits gone, it is needed.
    fs::write(&checkpoint, &whole[..100]).unwrap();
    fs::remove_file(commit(&lab.table("t"), 0)).unwrap();
    let error = lab.open().error("SELECT sum(x) FROM t");
    assert!(error.contains("checkpoint.parquet' is damaged: ") && error.ends_with("DROP TABLE t"), "{error}");
    fs::write(&checkpoint, &whole).unwrap();
    assert_eq!(lab.open().value("SELECT sum(x) FROM t"), "5253");
}

#[test]
fn a_damaged_data_file_is_named_and_the_version_before_it_is_read() {
    let cut: Damage = |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let garbled: Damage = |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[4..40].fill(0xAA);
        fs::write(path, bytes).unwrap();
    };
    let without_end: Damage = |path| {
        let mut bytes = fs::read(path).unwrap();
        let end = bytes.len();
        bytes[end - 200..end - 10].fill(0xAA);
        fs::write(path, bytes).unwrap();
    };
    let damages: [(Damage, &str); 6] = [
        (away, "is gone"),
        (empty, "is empty"),
        (folder, "is a folder, where a file has to be"),
        (cut, "it was cut off or replaced"),
        (garbled, "is damaged: "),
        (without_end, "is damaged: "),
    ];
    for (damage, what) in damages {
        for version in [0, 2] {
            let lab = lab();
            let path = added(&lab.table("a"), version);
            damage(&path);
            let db = lab.open();
            let copy = "INSERT INTO b SELECT x FROM a";
            for sql in [
                "SELECT sum(x) FROM a",
                copy,
                "UPDATE a SET x = x + 1 WHERE x > 0",
                "DELETE FROM a WHERE x % 2 = 0",
                "OPTIMIZE a",
            ] {
                let error = db.error(sql);
                let start = format!("a cannot be read: '{}' ", path.display());
                assert!(error.starts_with(&start) && error.contains(what), "{sql}: {error}");
                assert!(!error.contains('{') && !error.contains("Error"), "{sql}: {error}");
                let end = match version {
                    0 => "restore it from a copy, or give the table up: DROP TABLE a",
                    _ => {
                        "restore it from a copy, or go back to the version before it was written: CREATE OR REPLACE TABLE a AS \
                         SELECT * FROM a VERSION AS OF 1"
                    }
                };
                assert!(error.ends_with(end), "{sql}: {error}");
            }
            assert_eq!(db.rows("SELECT x FROM b"), [["2"]]);
            // Counts are those of the log.
            assert_eq!(db.value("SELECT count(*) FROM a"), "6");
            if version == 2 {
                db.run("CREATE OR REPLACE TABLE a AS SELECT * FROM a VERSION AS OF 1");
                assert_eq!(db.value("SELECT sum(x) FROM a"), "10");
            }
        }
    }
    // The file of a version of the past that is needed now as well was not removed by VACUUM.
    let lab = lab();
    away(&added(&lab.table("a"), 0));
    lab.open().refuses("SELECT sum(x) FROM a VERSION AS OF 1", &["' is gone; restore it from a copy"]);
}

/// One that was opened before, and Delta tables that are attached.
#[test]
fn damage_is_named_wherever_a_table_is_read() {
    let lab = lab();
    let db = lab.open();
    db.run("SELECT sum(x) FROM a");
    let table = lab.table("a");
    away(&added(&table, 1));
    let reason = format!("'{}' is gone; restore it from a copy", added(&table, 1).display());
    db.refuses("SELECT sum(x) FROM a", &[&reason]);
    db.refuses("CREATE TABLE c AS SELECT x FROM a", &[&reason]);
    db.refuses("CREATE TABLE memory.main.c AS SELECT x FROM a", &[&reason]);
    db.refuses("SELECT * FROM core_number((SELECT x AS src, x + 1 AS dst FROM a))", &[&reason]);
    let memory = Db::new();
    memory.refuses(&format!("SELECT sum(x) FROM '{}'", table.display()), &[&reason]);
    memory.run(&format!("ATTACH '{}' AS other (READ_ONLY)", lab.root().display()));
    memory.refuses("SELECT sum(x) FROM other.main.a", &[&reason]);
    // One that is no database's.
    let moved = PathBuf::from(lab.beside("moved"));
    fs::rename(&table, &moved).unwrap();
    let expected =
        format!("the Delta table '{}' cannot be read: '{}' is gone", moved.display(), added(&moved, 1).display());
    memory.refuses(&format!("SELECT sum(x) FROM '{}'", moved.display()), &[&expected]);
}
