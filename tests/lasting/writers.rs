//! Two processes change a table at once: what comes out is what one order of the two statements gives, or one of them says
//! that it was overtaken.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::Lab;

/// Statements of each kind that changes a table; `{csv}` is a file with rows.
const STATEMENTS: [&str; 7] = [
    "INSERT INTO t (a, b) SELECT value, 1 FROM generate_series(5001, 5100)",
    "UPDATE t SET b = b + 1 WHERE a % 10 = 0",
    "DELETE FROM t WHERE a % 7 = 0",
    "ALTER TABLE t ADD COLUMN c INT DEFAULT 5",
    "OPTIMIZE t",
    "VACUUM t",
    "COPY t (a, b) FROM '{csv}'",
];

/// What tells two states of the table apart.
const STATE: &str = "SELECT count(*), count(DISTINCT a), sum(a), sum(b), sum(a * b) FROM t";

/// The words of a statement that was overtaken.
const OVERTAKEN: &str = "run it again";

/// A database whose table has some small files, which OPTIMIZE merges.
fn lab(csv: &str) -> Lab {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t (a BIGINT, b BIGINT)");
    for part in 0..5 {
        db.run(&format!(
            "INSERT INTO t SELECT value, 0 FROM generate_series({}, {})",
            part * 200 + 1,
            part * 200 + 200
        ));
    }
    std::fs::write(csv, "a,b\n9001,2\n9002,3\n").unwrap();
    lab
}

fn state(lab: &Lab) -> Vec<String> {
    lab.open().rows(STATE).concat()
}

/// The state after some statements, one after the other.
fn after(csv: &str, statements: &[&str]) -> Vec<String> {
    let lab = lab(csv);
    let db = lab.open();
    for sql in statements {
        db.run(&sql.replace("{csv}", csv));
    }
    state(&lab)
}

/// A process that has opened the database.
struct Writer {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Writer {
    fn new(lab: &Lab) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
        command.arg(lab.root()).args(["--quiet", "--threads", "1"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        process.stdin.as_mut().unwrap().write_all(b"SELECT count(*) FROM t;\n\\echo ready\n").unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while line.trim() != "ready" {
            line.clear();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the process ended before it was ready");
        }
        Self { process, output }
    }

    fn send(&mut self, sql: &str) {
        self.process.stdin.take().unwrap().write_all(format!("{sql};\n").as_bytes()).unwrap();
    }

    /// Whether the statement succeeded; one that did not says that it was overtaken.
    fn ended_well(mut self, sql: &str) -> bool {
        let (mut errors, mut rest) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let ended_well = self.process.wait().unwrap().success();
        assert!(ended_well || errors.contains(OVERTAKEN), "{sql}: {errors}");
        ended_well
    }
}

/// `BONNET_WRITERS=19` runs each of the 27 pairs as often: 513 runs.
#[test]
fn of_two_writers_no_row_is_lost_or_doubled() {
    let given = std::env::var("BONNET_WRITERS").ok().and_then(|rounds| rounds.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("more.csv").to_str().unwrap().to_owned();
    let before = after(&csv, &[]);
    let alone = STATEMENTS.map(|sql| after(&csv, &[sql]));
    for (at, first) in STATEMENTS.iter().enumerate() {
        for (beside, second) in STATEMENTS.iter().enumerate().skip(at) {
            // Two changes of one name are no order of two: the second is refused in any.
            if first.starts_with("ALTER") && first == second {
                continue;
            }
            let orders = [after(&csv, &[first, second]), after(&csv, &[second, first])];
            // Where one merges the files that the other rewrites, more tries find what is wrong.
            let rounds = given.unwrap_or(if first.contains("OPTIMIZE") || second.contains("OPTIMIZE") { 3 } else { 1 });
            for _ in 0..rounds {
                let lab = lab(&csv);
                let mut writers = [Writer::new(&lab), Writer::new(&lab)];
                for (writer, sql) in writers.iter_mut().zip([first, second]) {
                    writer.send(&sql.replace("{csv}", &csv));
                }
                let [one, other] = writers;
                let ended_well = (one.ended_well(first), other.ended_well(second));
                let found = state(&lab);
                let allowed = match ended_well {
                    (true, true) => orders.contains(&found),
                    (true, false) => found == alone[at],
                    (false, true) => found == alone[beside],
                    (false, false) => found == before,
                };
                assert!(
                    allowed,
                    "{first} beside {second}, which ended well: {ended_well:?}: {found:?}, not {orders:?}"
                );
            }
        }
    }
}

/// Three processes train one grid into one table, each its share; one of them is ended before its first row, and goes on where its
/// share was left.
#[test]
fn processes_with_shares_train_every_job_once() {
    const GRID: &str = "SELECT 'club' AS graph, model, value AS seed FROM (VALUES ('mlp'), ('sgc')) m(model) \
                        CROSS JOIN generate_series(0, 11)";
    let statement = |share: usize| {
        format!(
            "INSERT INTO t SELECT graph, model, seed, status, {share} AS share FROM train((SELECT * FROM ({GRID}) jobs \
             LEFT ANTI JOIN t USING (graph, model, seed)), share => '{share}/3', features => 'identity', epochs => 2)"
        )
    };
    let lab = Lab::new();
    let db = lab.open();
    db.run("ATTACH 'builtin:karate' AS karate");
    db.run("CREATE SCHEMA club");
    db.run("CREATE TABLE club.edges AS SELECT src, dst FROM karate.edges");
    db.run("CREATE TABLE club.nodes AS SELECT node, label FROM karate.nodes");
    db.run("CREATE TABLE t (graph TEXT, model TEXT, seed BIGINT, status TEXT, share INT)");
    drop(db);
    let [first, mut second, third] = [(); 3].map(|()| Writer::new(&lab));
    second.process.kill().unwrap();
    let mut writers = [(1, first), (3, third)];
    for (share, writer) in &mut writers {
        writer.send(&statement(*share));
    }
    for (share, writer) in writers {
        assert!(writer.ended_well(&statement(share)));
    }
    let jobs = "SELECT count(*), count(DISTINCT model || seed), count(*) FILTER (status = 'ok') FROM t";
    let before: usize = lab.open().rows(jobs).concat()[0].parse().unwrap();
    assert!(before < 24, "the second share is not there yet");
    for _ in 0..2 {
        let db = lab.open();
        for share in 1..=3 {
            db.run(&statement(share));
        }
        assert_eq!(db.rows(jobs).concat(), ["24", "24", "24"]);
        assert_eq!(db.rows("SELECT DISTINCT share FROM t ORDER BY share"), [["1"], ["2"], ["3"]]);
    }
}
