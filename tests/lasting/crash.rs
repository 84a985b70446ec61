//! Whatever happens to a process, its database is whole.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Lab;

fn bonnet(lab: &Lab) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
    command.arg(lab.root()).args(["--quiet", "--threads", "1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The rows of one INSERT.
const ROWS: u64 = 100;

/// Inserts, and makes, replaces and drops another table, a view and a graph; says after each INSERT which one it was.
fn script(first: u64, count: u64) -> String {
    let mut script = String::from("\\echo ready\n");
    for i in first..first + count {
        script += &format!(
            "INSERT INTO log SELECT {i} AS step, value FROM generate_series(1, {ROWS});\n\\echo {i}\n\
             CREATE OR REPLACE TABLE copy AS SELECT {i} AS step, value FROM generate_series(1, 500);\n\
             CREATE OR REPLACE VIEW latest AS SELECT max(step) AS step FROM log WHERE step <= {i};\n\
             CREATE OR REPLACE GRAPH ring AS cycle({});\n",
            10 + i % 7
        );
        if i % 3 == 0 {
            script += "DROP TABLE copy;\nDROP GRAPH ring;\n";
        }
        if i % 5 == 0 {
            script += "DELETE FROM log WHERE step < 0;\nUPDATE log SET value = value WHERE step = 1;\n";
        }
    }
    script
}

/// Feeds a script to a process, and answers what it wrote until it ended.
fn feed(child: &mut Child, script: String) -> impl Iterator<Item = String> + use<> {
    let mut input = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        // The process may be killed meanwhile.
        let _ = input.write_all(script.as_bytes());
    });
    BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok)
}

/// `BONNET_KILLS=50` for the long form.
#[test]
fn every_committed_row_survives_a_kill_at_any_moment() {
    let kills: u64 = std::env::var("BONNET_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let lab = Lab::new();
    lab.open().run("CREATE TABLE log (step BIGINT, value BIGINT)");
    let (mut next, mut committed, mut random) = (1, 0, 0x2545_F491_4F6C_DD1D_u64);
    for kill in 0..kills {
        let mut child = bonnet(&lab).spawn().unwrap();
        let mut lines = feed(&mut child, script(next, 200));
        assert_eq!(lines.next().as_deref(), Some("ready"), "after {kill} kills");
        // From nothing to half a second: xorshift, so that the moments differ but are the same in every run.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_millis(random % 500));
        child.kill().unwrap();
        child.wait().unwrap();
        committed = lines.filter_map(|line| line.parse::<u64>().ok()).last().unwrap_or(committed);

        let db = lab.open();
        let found = db.rows("SELECT count(*), count(DISTINCT step), coalesce(max(step), 0) FROM log");
        let found: Vec<u64> = found[0].iter().map(|value| value.parse().unwrap()).collect();
        let [rows, steps, last] = found[..] else { panic!() };
        assert_eq!(rows, steps * ROWS, "an INSERT is there in part, after kill {kill}");
        assert_eq!(steps, last, "a committed INSERT is lost, after kill {kill}");
        assert!(last == committed || last == committed + 1, "{committed} said, {last} found, after kill {kill}");
        let tables = "SELECT table_schema, table_name FROM information_schema.tables \
                      WHERE table_catalog = 'lab' AND table_schema <> 'information_schema' ORDER BY 1, 2";
        for table in db.rows(tables) {
            let [schema, name] = &table[..] else { panic!() };
            let count: u64 = db.value(&format!("SELECT count(*) FROM {schema}.{name}")).parse().unwrap();
            match name.as_str() {
                "copy" => assert_eq!(count, 500, "a table is there in part, after kill {kill}"),
                "edges" | "nodes" => assert!((10..17).contains(&count), "{count} {name}, after kill {kill}"),
                _ => {}
            }
        }
        if db.session_has_graph() {
            assert_eq!(db.rows("SELECT nodes = edges FROM bonnet.graphs"), [["true"]], "after kill {kill}");
        }
        (next, committed) = (last + 1, last);
    }
    // What the killed statements left is found and removed, and nothing else.
    let db = lab.open();
    let before = db.rows("SELECT * FROM log ORDER BY step, value");
    db.run("VACUUM RETAIN 0 HOURS");
    assert_eq!(lab.open().rows("SELECT * FROM log ORDER BY step, value"), before);
    let used =
        db.rows("SELECT 1 FROM information_schema.tables WHERE table_catalog = 'lab' AND table_type = 'BASE TABLE'");
    let mut folders = 0;
    for schema in std::fs::read_dir(lab.root().join("tables")).unwrap() {
        folders += std::fs::read_dir(schema.unwrap().path()).unwrap().count();
    }
    assert_eq!(folders, used.len());
}

/// `BONNET_INSERTS` is how many each inserts (default 1000).
#[test]
fn two_processes_insert_into_one_table() {
    let inserts = std::env::var("BONNET_INSERTS").ok().and_then(|inserts| inserts.parse().ok()).unwrap_or(1000_u64);
    let lab = Lab::new();
    lab.open().run("CREATE TABLE log (who BIGINT, step BIGINT)");
    let script = |who: u64| {
        (0..inserts).map(|i| format!("INSERT INTO log VALUES ({who}, {i});\n")).collect::<String>()
            + &format!("CREATE TABLE of_{who} AS SELECT {who} AS who;\n")
    };
    let mut children: Vec<_> = (0..2).map(|_| bonnet(&lab).spawn().unwrap()).collect();
    for (who, child) in children.iter_mut().enumerate() {
        let (mut input, script) = (child.stdin.take().unwrap(), script(who as u64));
        std::thread::spawn(move || input.write_all(script.as_bytes()).unwrap());
    }
    // And a third that reads all the while: only whole commits.
    let db = lab.open();
    let mut seen = 0;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        let count: u64 = db.value("SELECT count(*) FROM log").parse().unwrap();
        assert!(count >= seen, "{count} rows after {seen}");
        seen = count;
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let all = inserts.to_string();
    assert_eq!(
        db.rows("SELECT who, count(*), count(DISTINCT step) FROM log GROUP BY who ORDER BY who"),
        [["0".to_owned(), all.clone(), all.clone()], ["1".to_owned(), all.clone(), all]]
    );
    assert_eq!(db.rows("SELECT * FROM of_0 UNION ALL SELECT * FROM of_1 ORDER BY 1"), [["0"], ["1"]]);
}

/// A limit on the size of files stands for a full disk: the system answers a write beyond it with an error.
#[test]
#[cfg(unix)]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let lab = Lab::new();
    lab.open().run("CREATE TABLE t AS SELECT value AS a FROM generate_series(1, 1000)");
    let run = |sql: &str| {
        // 64 blocks of 512 or 1024 bytes. The signal that comes with the error would end the process.
        let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
        let output = Command::new("bash")
            .args(["-c", limited, env!("CARGO_BIN_EXE_bonnet"), lab.root().to_str().unwrap(), "-c", sql])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{sql} is not refused");
        String::from_utf8(output.stderr).unwrap()
    };
    let many = "SELECT random() AS a FROM generate_series(1, 200000)";
    for sql in [format!("INSERT INTO t SELECT (a * 1e9)::BIGINT FROM ({many})"), format!("CREATE TABLE u AS {many}")] {
        let error = run(&sql);
        assert!(error.contains("disk is full") && error.contains("nothing"), "{sql}: {error}");
        assert!(!error.contains("panicked") && error.lines().count() == 1, "{sql}: {error}");
    }
    let db = lab.open();
    assert_eq!(db.rows("SELECT count(*), sum(a) FROM t"), [["1000", "500500"]]);
    db.refuses("SELECT * FROM u", &["u"]);
    db.run("INSERT INTO t VALUES (1)");
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_is_opened_for_reading() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    lab.open().run("CREATE TABLE t AS SELECT 1 AS a");
    let chmod = |mode: u32| {
        let status = Command::new("chmod").args(["-R", if mode == 0 { "a-w" } else { "u+w" }]).arg(lab.root()).status();
        assert!(status.unwrap().success());
    };
    chmod(0);
    let probe = std::fs::File::create(lab.root().join("probe"));
    if probe.is_ok() {
        // Root may write anywhere.
        println!("skipped: permissions do not bind this user");
        return;
    }
    assert_eq!(std::fs::metadata(lab.root()).unwrap().permissions().mode() & 0o222, 0);
    let db = lab.open();
    assert_eq!(db.rows("SELECT * FROM t"), [["1"]]);
    db.refuses("INSERT INTO t VALUES (2)", &["cannot be changed"]);
    db.refuses("CREATE TABLE u AS SELECT 1 AS a", &["cannot be changed"]);
    chmod(1);
    assert_eq!(lab.open().rows("SELECT * FROM t"), [["1"]]);
}

impl super::Db {
    /// Whether there is a graph in this database at the moment.
    fn session_has_graph(&self) -> bool {
        self.value("SELECT count(*) FROM bonnet.graphs") != "0"
    }
}
