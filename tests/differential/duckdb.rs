//! DuckDB, in a Python process at the other end of two pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::rows::{Row, Value};

/// A line of SQL as JSON comes in; a line with the rows, or with what DuckDB says against them, goes out. Values are text
/// with a letter before it: (n)umber, (f)loat, (t)ext.
const PEER: &str = r#"
import datetime, decimal, duckdb, json, sys
def connect():
    connection = duckdb.connect()
    # The bar of a query of some seconds would stand between the lines.
    connection.execute('SET enable_progress_bar = false')
    return connection
connection = connect()
def text(value):
    if value is None: return None
    if isinstance(value, bool): return 't' + str(value).lower()
    if isinstance(value, float): return 'f' + repr(value)
    if isinstance(value, (int, decimal.Decimal)): return 'n' + format(value, 'f')
    if isinstance(value, datetime.datetime): return 't' + value.isoformat(sep=' ')
    return 't' + str(value)
for line in sys.stdin:
    sql = json.loads(line)
    try:
        if sql == 'reset':
            connection = connect()
            answer = []
        else:
            rows = connection.execute(sql).fetchall()
            answer = [[text(value) for value in row] for row in rows]
    except Exception as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)
"#;

/// A running DuckDB.
pub(super) struct DuckDb {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
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
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Some(Self { child, to, from })
    }

    /// The rows of a statement, or what DuckDB says against it.
    pub(super) fn run(&mut self, sql: &str) -> Result<Vec<Row>, String> {
        writeln!(self.to, "{}", serde_json::to_string(sql).unwrap()).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{sql}: {line:?}"));
        match answer {
            serde_json::Value::String(error) => Err(error),
            answer => Ok(answer.as_array().unwrap().iter().map(row).collect()),
        }
    }

    /// Forgets all tables.
    pub(super) fn reset(&mut self) {
        self.run("reset").unwrap();
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
