//! DuckDB, in a Python process at the other end of two pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::rows::{Row, Value};

/// A line with statements as a JSON array comes in; a line with the answer of each, its rows or what DuckDB says against
/// it, goes out. Values are text with a letter before it: (n)umber, (f)loat, (t)ext. What DuckDB's own rewrites would add
/// is time, and defects: the witness is to be plain.
const PEER: &str = r#"
import datetime, decimal, duckdb, json, sys
connection = duckdb.connect()
# The bar of a query of some seconds would stand between the lines.
connection.execute('SET enable_progress_bar = false')
connection.execute('SET threads = 1')
connection.execute('PRAGMA disable_optimizer')
def text(value):
    if value is None: return None
    if isinstance(value, bool): return 't' + str(value).lower()
    if isinstance(value, float): return 'f' + repr(value)
    if isinstance(value, (int, decimal.Decimal)): return 'n' + format(value, 'f')
    if isinstance(value, datetime.datetime): return 't' + value.isoformat(sep=' ')
    return 't' + str(value)
def answer(sql):
    try:
        return [[text(value) for value in row] for row in connection.execute(sql).fetchall()]
    except Exception as error:
        return str(error)
for line in sys.stdin:
    print(json.dumps([answer(sql) for sql in json.loads(line)]), flush=True)
"#;

/// What DuckDB makes of a statement: its rows, or what it says against it.
pub(super) type Answer = Result<Vec<Row>, String>;

/// A running DuckDB.
pub(super) struct DuckDb {
    child: Child,
    to: ChildStdin,
    /// Lines are taken as they come: a peer that waits for a reader would not read what is asked next.
    from: Receiver<String>,
}

impl DuckDb {
    /// Starts it; `None` (or, where all tests are required, a panic) without Python's package.
    pub(super) fn start() -> Option<Self> {
        let python = std::env::var("BONNET_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let has = Command::new(&python).args(["-c", "import duckdb"]).output();
        if !has.is_ok_and(|output| output.status.success()) {
            assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{python} lacks duckdb");
            println!("skipped: {python} lacks duckdb");
            return None;
        }
        let mut child =
            Command::new(python).args(["-c", PEER]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (lines, from) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        Some(Self { child, to, from })
    }

    /// Sends statements; [`DuckDb::answers`] waits for what it makes of them.
    pub(super) fn ask(&mut self, statements: &[String]) {
        writeln!(self.to, "{}", serde_json::to_string(statements).unwrap()).unwrap();
    }

    /// The answers to what was asked first of all that is not answered yet.
    pub(super) fn answers(&mut self) -> Vec<Answer> {
        let line = self.from.recv().expect("DuckDB runs");
        let answers: Vec<serde_json::Value> = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let answer = |answer| match answer {
            serde_json::Value::String(error) => Err(error),
            answer => Ok(answer.as_array().unwrap().iter().map(row).collect()),
        };
        answers.into_iter().map(answer).collect()
    }

    /// The rows of a statement, or what DuckDB says against it.
    pub(super) fn run(&mut self, sql: &str) -> Answer {
        self.ask(&[sql.to_owned()]);
        self.answers().remove(0)
    }
}

impl Drop for DuckDb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A row as the peer writes it.
pub(super) fn row(values: &serde_json::Value) -> Row {
    let value = |value: &serde_json::Value| match value.as_str() {
        None => Value::Null,
        Some(text) => match text.split_at(1) {
            ("n", text) => Value::exact(text),
            ("f", text) => Value::Float(text.parse().unwrap()),
            (_, text) => Value::Text(text.to_owned()),
        },
    };
    values.as_array().unwrap().iter().map(value).collect()
}
