//! A power cut at any moment: what a process did to its files is recorded, and the disk is put together as it may have been
//! left after each step, with all that was not yet flushed, and with one part of it lost or cut. Whatever comes out, the
//! database opens with the rows of a prefix of its statements, of which none that had answered is missing.
//!
//! After J. Mohan et al., "Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing" (OSDI 2018), and the tests of
//! SQLite. `BONNET_REPLAYS` is how many disks are looked at (default 250, evenly chosen; 0 for all).
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use bonnetdb::Engine;

use super::super::Db;
use super::{open, options};

/// Each changes the database, or keeps its rows.
const STATEMENTS: [&str; 26] = [
    "CREATE TABLE t (a BIGINT, s TEXT)",
    "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, NULL)",
    "INSERT INTO t SELECT value, 'many' FROM generate_series(4, 400)",
    "CREATE VIEW v AS SELECT count(*) AS n FROM t",
    "UPDATE t SET s = 'changed' WHERE a < 3",
    "DELETE FROM t WHERE a > 300",
    "CREATE SCHEMA results",
    "CREATE TABLE results.runs AS SELECT 1 AS run, 0.5 AS score",
    "INSERT INTO results.runs VALUES (2, 0.75)",
    "CREATE OR REPLACE TABLE results.runs AS SELECT 3 AS run, 0.25 AS score",
    "UPDATE t SET s = u.s FROM (VALUES (1, 'first'), (3, 'third')) AS u(a, s) WHERE t.a = u.a",
    "CREATE GRAPH ring AS cycle(5)",
    "OPTIMIZE t",
    "INSERT INTO t VALUES (1000, 'after')",
    "ALTER TABLE results.runs RENAME TO best",
    "ALTER TABLE t ADD COLUMN n INT DEFAULT 3",
    "ALTER TABLE t RENAME COLUMN n TO m",
    "ALTER TABLE t DROP COLUMN m",
    "CREATE OR REPLACE VIEW v AS SELECT max(a) AS n FROM t",
    "CREATE OR REPLACE GRAPH ring AS cycle(6)",
    "VACUUM RETAIN 0 HOURS",
    "DELETE FROM t",
    "INSERT INTO t VALUES (5, 'five')",
    "DROP TABLE results.best",
    "DROP SCHEMA results CASCADE",
    "DROP GRAPH ring",
];

/// What was done, in its order.
enum Step {
    /// Names come to stand for files and folders (by their numbers), or for nothing.
    Names(Vec<(String, Option<usize>)>),
    Write {
        file: usize,
        offset: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: usize,
        length: usize,
    },
    Flush(usize),
    /// The process has answered so many statements.
    Answered(usize),
}

/// A record: what files and folders there were, and what was done to them.
#[derive(Default)]
struct Record {
    root: String,
    /// Which are folders. The first is the root.
    folders: Vec<bool>,
    steps: Vec<Step>,
    /// The steps that flush each.
    flushes: BTreeMap<usize, Vec<usize>>,
}

impl Record {
    fn new(bytes: &[u8], root: &str) -> Self {
        let mut this = Self { root: root.to_owned(), ..Self::default() };
        let mut names = BTreeMap::from([(root.to_owned(), this.file(true))]);
        let (mut rest, mut answered) = (bytes, 0);
        while let [op, after @ ..] = rest {
            let (offset, after) = after.split_at(8);
            let offset = u64::from_le_bytes(offset.try_into().unwrap()) as usize;
            let (first, after) = text(after);
            let (second, after) = text(after);
            rest = after;
            let path = || String::from_utf8(first.to_vec()).unwrap();
            let to = || String::from_utf8(second.to_vec()).unwrap();
            let of = |path: &str| names.get(path).copied();
            match op {
                b'c' | b'd' => {
                    let new = this.file(*op == b'd');
                    names.insert(path(), new);
                    this.steps.push(Step::Names(vec![(path(), Some(new))]));
                }
                b'w' => {
                    if let Some(file) = of(&path()) {
                        this.steps.push(Step::Write { file, offset, bytes: second.to_vec() });
                    }
                }
                b't' => {
                    if let Some(file) = of(&path()) {
                        this.steps.push(Step::Truncate { file, length: offset });
                    }
                }
                b'f' => {
                    if let Some(file) = of(&path()) {
                        this.flushes.entry(file).or_default().push(this.steps.len());
                        this.steps.push(Step::Flush(file));
                    }
                }
                b'r' => {
                    let moved = of(&path()).expect("what is renamed is known");
                    assert!(!this.folders[moved], "folders of databases are not renamed");
                    names.remove(&path());
                    names.insert(to(), moved);
                    this.steps.push(Step::Names(vec![(path(), None), (to(), Some(moved))]));
                }
                b'l' => {
                    let linked = of(&path()).expect("what is linked is known");
                    names.insert(to(), linked);
                    this.steps.push(Step::Names(vec![(to(), Some(linked))]));
                }
                b'u' => {
                    names.remove(&path());
                    this.steps.push(Step::Names(vec![(path(), None)]));
                }
                b'm' => {
                    answered += second.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"done")).count();
                    this.steps.push(Step::Answered(answered));
                }
                other => panic!("no step {other}"),
            }
        }
        this
    }

    fn file(&mut self, folder: bool) -> usize {
        self.folders.push(folder);
        self.folders.len() - 1
    }

    /// Whether a step is on the disk for sure after `until` others.
    fn is_flushed(&self, step: usize, until: usize, names: &BTreeMap<String, usize>) -> bool {
        let flushes = |file: usize| {
            self.flushes.get(&file).is_some_and(|steps| steps.iter().any(|&flush| step < flush && flush < until))
        };
        match &self.steps[step] {
            Step::Write { file, .. } | Step::Truncate { file, .. } => flushes(*file),
            Step::Names(changed) => changed.iter().all(|(path, _)| flushes(names[folder_of(path)])),
            Step::Flush(_) | Step::Answered(_) => true,
        }
    }

    /// The disk after the first `until` steps, one of them lost or cut.
    fn disk(&self, until: usize, fault: Option<(usize, Fault)>) -> (BTreeMap<String, usize>, Vec<Vec<u8>>) {
        let (mut names, mut contents) = (BTreeMap::new(), vec![Vec::new(); self.folders.len()]);
        for (i, step) in self.steps[..until].iter().enumerate() {
            let fault = fault.filter(|(at, _)| *at == i).map(|(_, fault)| fault);
            match (step, fault) {
                (_, Some(Fault::Lost)) => {}
                (Step::Names(changed), _) => {
                    for (path, file) in changed {
                        match file {
                            Some(file) => names.insert(path.clone(), *file),
                            None => names.remove(path),
                        };
                    }
                }
                (Step::Write { file, offset, bytes }, fault) => {
                    let bytes = if fault.is_some() { &bytes[..bytes.len() / 2] } else { bytes.as_slice() };
                    let content: &mut Vec<u8> = &mut contents[*file];
                    content.resize(content.len().max(offset + bytes.len()), 0);
                    content[*offset..offset + bytes.len()].copy_from_slice(bytes);
                }
                (Step::Truncate { file, length }, _) => contents[*file].resize(*length, 0),
                (Step::Flush(_) | Step::Answered(_), _) => {}
            }
        }
        (names, contents)
    }

    /// The steps after which the power may be cut, and what may be lost then.
    fn cuts(&self) -> Vec<(usize, Option<(usize, Fault)>)> {
        let mut cuts = Vec::new();
        let mut names = BTreeMap::from([(self.root.clone(), 0)]);
        for until in 0..=self.steps.len() {
            cuts.push((until, None));
            for step in 0..until {
                if !self.is_flushed(step, until, &names) {
                    cuts.push((until, Some((step, Fault::Lost))));
                    if matches!(self.steps[step], Step::Write { .. }) {
                        cuts.push((until, Some((step, Fault::Cut))));
                    }
                }
            }
            if let Some(Step::Names(changed)) = self.steps.get(until) {
                // A name that is gone still says in which folder it was.
                names.extend(changed.iter().filter_map(|(path, file)| Some((path.clone(), (*file)?))));
            }
        }
        cuts
    }

    fn answered(&self, until: usize) -> usize {
        let answered = self.steps[..until].iter().rev().find_map(|step| match step {
            Step::Answered(count) => Some(*count),
            _ => None,
        });
        answered.unwrap_or(0)
    }

    fn describe(&self, step: usize) -> String {
        match &self.steps[step] {
            Step::Names(changed) => changed.iter().map(|(path, file)| format!("{path} is {file:?} ")).collect(),
            Step::Write { file, offset, bytes } => format!("{} bytes at {offset} of {file}", bytes.len()),
            Step::Truncate { file, length } => format!("{file} cut to {length}"),
            Step::Flush(file) => format!("flush of {file}"),
            Step::Answered(count) => format!("{count} statements answered"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Lost,
    Cut,
}

fn text(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = bytes.split_at(4);
    rest.split_at(u32::from_le_bytes(length.try_into().unwrap()) as usize)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Puts a disk into an empty folder. What lies in a folder that is lost is lost.
fn write_disk(record: &Record, (names, contents): &(BTreeMap<String, usize>, Vec<Vec<u8>>), to: &Path) {
    // In order: a folder comes before what lies in it.
    for (path, file) in names {
        let place = to.join(path.strip_prefix(&record.root).unwrap().trim_start_matches('/'));
        if !place.parent().unwrap().is_dir() {
            continue;
        }
        match record.folders[*file] {
            true => std::fs::create_dir_all(place).unwrap(),
            false => std::fs::write(place, &contents[*file]).unwrap(),
        }
    }
}

/// All rows of the database `lab` on a disk.
fn rows_on(disk: &Path) -> Result<String, String> {
    let opened = Engine::open(options(&disk.join("lab.bonnet"), false));
    let engine = opened.map_err(|error| format!("the database is not opened: {error}"))?;
    let session = engine.session();
    rows(&Db { engine, session })
}

/// All rows of the database `lab`, table by table.
fn rows(db: &Db) -> Result<String, String> {
    let run = |sql: &str| {
        let batches = db.try_run(sql).map_err(|error| format!("{sql}: {error}"))?;
        let mut rows = super::super::texts(&batches);
        rows.sort();
        Ok::<_, String>(rows)
    };
    let tables = "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_catalog = 'lab' \
                  AND table_schema <> 'information_schema'";
    let mut all =
        format!("{:?}\n", run("SELECT schema_name FROM information_schema.schemata WHERE catalog_name = 'lab'")?);
    for table in run(tables)? {
        let [schema, name, kind] = &table[..] else { panic!() };
        all += &format!("{schema}.{name} ({kind}): {:?}\n", run(&format!("SELECT * FROM lab.{schema}.{name}"))?);
    }
    if !db.session.damaged().is_empty() {
        return Err(format!("{:?}", db.session.damaged()));
    }
    Ok(all)
}

/// The recorder as a library; `None` without a C compiler.
fn recorder(folder: &Path) -> Option<std::path::PathBuf> {
    let library = folder.join("recorder.so");
    let source = crate::repository().join("tests/lasting/recorder.c");
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl").output();
    match built {
        Ok(output) if output.status.success() => Some(library),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "cc: {error}");
            println!("skipped: there is no C compiler");
            None
        }
    }
}

#[test]
fn a_power_cut_at_any_moment_leaves_a_prefix_of_the_statements() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = recorder(folder.path()) else { return };
    let root = folder.path().canonicalize().unwrap().join("disk");
    std::fs::create_dir(&root).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_bonnet"))
        .arg(root.join("lab.bonnet"))
        .args(["--quiet", "--threads", "1"])
        .env("LD_PRELOAD", &library)
        .env("BONNET_RECORD", folder.path().join("record"))
        .env("BONNET_RECORD_ROOT", &root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script: String = STATEMENTS.iter().map(|statement| format!("{statement};\n\\echo done\n")).collect();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    // What the database holds after each statement.
    let twin = folder.path().join("lab.bonnet");
    let db = open(&twin, false);
    let mut expected = vec![rows(&db).unwrap()];
    for statement in STATEMENTS {
        db.run(statement);
        expected.push(rows(&db).unwrap());
    }
    drop(db);

    let record = Record::new(&std::fs::read(folder.path().join("record")).unwrap(), root.to_str().unwrap());
    assert_eq!(record.answered(record.steps.len()), STATEMENTS.len());
    let cuts = record.cuts();
    let wanted = std::env::var("BONNET_REPLAYS").map_or(250, |count| count.parse().unwrap());
    let wanted = if wanted == 0 { cuts.len() } else { wanted.min(cuts.len()) };
    let mut failures = Vec::new();
    for i in 0..wanted {
        let (until, fault) = cuts[i * cuts.len() / wanted];
        let disk = tempfile::tempdir().unwrap();
        write_disk(&record, &record.disk(until, fault), disk.path());
        let answered = record.answered(until);
        let found = rows_on(disk.path());
        if found.as_ref().is_ok_and(|rows| expected[answered..].iter().take(2).any(|expected| expected == rows)) {
            continue;
        }
        let fault = fault.map(|(step, fault)| format!("{fault:?}: {}", record.describe(step)));
        failures.push(format!(
            "the power is cut after step {until} ({}), {} statements answered, the next is {:?}; {}\n{}",
            until.checked_sub(1).map(|last| record.describe(last)).unwrap_or_default(),
            answered,
            STATEMENTS.get(answered),
            fault.unwrap_or_else(|| "nothing is lost".to_owned()),
            found.unwrap_or_else(|error| error)
        ));
    }
    println!("{wanted} of {} disks after {} steps", cuts.len(), record.steps.len());
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures[..failures.len().min(12)].join("\n\n"));
}

/// An entry of the first schema may last where its folder does not: there is no database yet, and it is made.
#[test]
fn a_database_whose_making_lost_a_folder_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lab.bonnet");
    let empty = rows(&open(&root, false)).unwrap();
    std::fs::remove_file(root.join("bonnet.json")).unwrap();
    let catalog = std::fs::read_dir(root.join("catalog")).unwrap();
    let main = catalog.map(|file| file.unwrap().path()).find(|path| path.is_dir()).unwrap();
    std::fs::remove_dir_all(&main).unwrap();
    let db = open(&root, false);
    assert!(main.is_dir());
    assert_eq!(rows(&db).unwrap(), empty);
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    assert_eq!(open(&root, false).rows("SELECT a FROM t"), [["1"]]);
}
