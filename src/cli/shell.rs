//! Running items: the state that scripts and the prompt share.

use std::fs::File;
use std::future::Future;
use std::io::{self, BufRead, BufReader, Write};
use std::pin::pin;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::StreamExt;
use tokio::runtime::Runtime;

use super::interrupt::Interrupts;
use super::output::{Output, width};
use super::progress::Bar;
use super::report::Report;
use super::script::{Item, Pending, ScriptLines, Task};
use super::variables::Variables;
use crate::{Answer, Session};

/// Scripts that include one another deeper than this are taken for a circle.
const DEEPEST: usize = 50;

/// The bytes of a result that are kept to be drawn.
const MOST_BYTES: usize = 64 << 20;

/// Where in its statement an error stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// The line with a mark under the place, if the statement is known.
    excerpt: Option<String>,
}

/// Why the rest is not run.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error, and where in its statement it stands, if that is known.
    Error(String, Option<Place>),
    /// An error whose text already says where it stands.
    Located(String),
    /// Ctrl-C.
    Interrupted,
    /// Whoever read the rows has closed the pipe.
    Closed,
}

impl Failure {
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self::Error(text.into(), None)
    }

    /// The error with the line of this statement in which it stands.
    fn in_statement(self, statement: &str) -> Self {
        match self {
            Self::Error(text, Some(place)) => {
                let excerpt = excerpt(statement, place.line, place.column);
                Self::Error(text, Some(Place { excerpt, ..place }))
            }
            other => other,
        }
    }

    /// The error as the prompt shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Error(text, place) => {
                let excerpt = place.as_ref().and_then(|place| place.excerpt.as_deref());
                format!("error: {text}{}", excerpt.unwrap_or_default())
            }
            Self::Located(text) => text.clone(),
            Self::Interrupted | Self::Closed => "Stopped.".to_owned(),
        }
    }

    /// The error with the place of its item before it.
    fn at(self, origin: &str, item: &Item) -> Self {
        match self {
            Self::Error(text, None) => Self::Located(format!("{origin}:{}: {text}", item.line)),
            Self::Error(text, Some(Place { line, column, excerpt })) => {
                let column = if line == 1 { column + item.column - 1 } else { column };
                let line = item.line + line - 1;
                let excerpt = excerpt.unwrap_or_default();
                Self::Located(format!("{origin}:{line}: {}{excerpt}", with_position(&text, line, column)))
            }
            other => other,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::error(error.to_string()) }
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        let text = error.to_string();
        let place = position(&text).map(|(_, line, column)| Place { line, column, excerpt: None });
        Self::Error(text, place)
    }
}

/// Whether to go on after an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    /// `\q`: ends the script that holds it, or the prompt.
    Quit,
}

/// The state of the command line.
pub(super) struct Shell {
    pub(super) session: Session,
    pub(super) runtime: Runtime,
    pub(super) interrupts: Interrupts,
    pub(super) variables: Variables,
    pub(super) output: Output,
    pub(super) timing: bool,
    pub(super) quiet: bool,
    /// The scripts that are being run, each included by the one before.
    pub(super) scripts: Vec<String>,
    /// The columns and rows of the last result, unless there are too many.
    pub(super) last: Option<(SchemaRef, Vec<RecordBatch>)>,
    /// The page that takes what is answered instead of the output.
    pub(super) report: Option<Report>,
}

impl Shell {
    pub(super) fn new(session: Session, interrupts: Interrupts, output: Output, quiet: bool) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (variables, scripts) = (Variables::default(), Vec::new());
        let (timing, last, report) = (false, None, None);
        Ok(Self { session, runtime, interrupts, variables, output, timing, quiet, scripts, last, report })
    }

    /// Runs a script file, or standard input for `-`.
    pub(super) fn run_file(&mut self, path: &str) -> Result<(), Failure> {
        if path == "-" {
            return self.run_script("<stdin>", io::stdin().lock());
        }
        let file = File::open(path).map_err(|error| Failure::error(format!("'{path}' cannot be read: {error}")))?;
        self.run_script(path, BufReader::new(file))
    }

    /// Runs a script item by item as its lines come, and stops at the first failure.
    pub(super) fn run_script(&mut self, origin: &str, reader: impl BufRead) -> Result<(), Failure> {
        if self.scripts.len() >= DEEPEST {
            return Err(Failure::error(format!(
                "'{origin}' is included {DEEPEST} scripts deep: does it include itself?"
            )));
        }
        self.scripts.push(origin.to_owned());
        if let Some(report) = &mut self.report {
            report.enter(origin);
        }
        let mut result = self.run_lines(origin, reader);
        if let Some(report) = &mut self.report {
            let left = report.leave();
            result = result.and(left);
        }
        self.scripts.pop();
        result
    }

    fn run_lines(&mut self, origin: &str, reader: impl BufRead) -> Result<(), Failure> {
        let mut lines = ScriptLines::new(reader);
        let mut pending = Pending::new();
        loop {
            let line = lines.next().map_err(|(line, text)| Failure::Located(format!("{origin}:{line}: {text}")))?;
            if let (Some(report), Some(line)) = (&mut self.report, &line) {
                report.line(line);
            }
            let items = match &line {
                Some(line) => pending.push(line),
                None => pending.finish(),
            };
            for item in items {
                match self.run_item(&item).map_err(|failure| failure.at(origin, &item))? {
                    Flow::Continue => {}
                    Flow::Quit => return Ok(()),
                }
            }
            if line.is_none() {
                return Ok(());
            }
        }
    }

    /// Runs one item.
    pub(super) fn run_item(&mut self, item: &Item) -> Result<Flow, Failure> {
        if self.interrupts.arrived() {
            return Err(Failure::Interrupted);
        }
        if let Some(report) = &mut self.report {
            report.before(item.line)?;
        }
        let text = match &item.task {
            Task::Statement(text) | Task::Command(text) => text,
        };
        let text = self.variables.substitute(text).map_err(|undefined| {
            let before = &text[..undefined.offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            Failure::Error(undefined.message(), Some(Place { line, column, excerpt: excerpt(text, line, column) }))
        })?;
        match item.task {
            Task::Statement(_) => {
                let done = self.run_statement(&text).map_err(|failure| failure.in_statement(&text));
                done.map(|()| Flow::Continue)
            }
            Task::Command(_) => self.run_command(&text),
        }
    }

    /// Runs one statement and writes what it answers.
    pub(super) fn run_statement(&mut self, statement: &str) -> Result<(), Failure> {
        let started = Instant::now();
        self.last = None;
        let Self { session, runtime, interrupts, output, last, report, .. } = self;
        let done = runtime.block_on(async {
            let mut bar = Bar::new();
            let answer = watch(session.execute(statement), session, interrupts, &mut bar).await??;
            let mut rows = match answer {
                Answer::Done(message) => return Ok(Some(message)),
                Answer::Rows(rows) => rows,
            };
            // A statement that has no columns to answer with (DDL) shows no table.
            let has_columns = !rows.schema().fields().is_empty();
            if let (Some(report), true) = (&mut *report, has_columns) {
                let (schema, mut batches) = (rows.schema(), Vec::new());
                while let Some(batch) = watch(rows.next(), session, interrupts, &mut bar).await? {
                    batches.push(batch.map_err(crate::Error::from)?);
                }
                bar.hide();
                report.rows(statement, &schema, &batches)?;
                return Ok(None);
            }
            let mut result = if has_columns { Some(output.begin(rows.schema())?) } else { None };
            let mut rows_so_far = has_columns.then(|| (rows.schema(), Vec::new()));
            let mut bytes = 0;
            while let Some(batch) = watch(rows.next(), session, interrupts, &mut bar).await? {
                let batch = batch.map_err(crate::Error::from)?;
                bytes += batch.get_array_memory_size();
                match &mut rows_so_far {
                    Some((_, batches)) if bytes <= MOST_BYTES => batches.push(batch.clone()),
                    _ => rows_so_far = None,
                }
                if let Some(result) = &mut result {
                    bar.hide();
                    output.write(result, &batch)?;
                    if result.is_closed() {
                        break;
                    }
                }
            }
            bar.hide();
            if let Some(result) = result {
                output.finish(result)?;
            }
            *last = rows_so_far;
            Ok::<_, Failure>(None)
        });
        if let Err(Failure::Interrupted) = done
            && let Some(kept) = self.runtime.block_on(self.session.committed_runs())
        {
            complain(&format!("Stopped; {kept}."));
        }
        let done = done?;
        if let Some(message) = done.filter(|message| !message.is_empty()) {
            if let Some(report) = &mut self.report {
                report.done(statement);
            }
            self.message(&message);
        }
        if self.timing {
            self.message(&format!("Time: {:.3} ms", started.elapsed().as_secs_f64() * 1e3));
        }
        Ok(())
    }

    /// The rows of a small query of the command line's own, as text; NULL is empty.
    pub(super) fn ask(&mut self, query: &str, patience: Duration) -> Result<Vec<Vec<String>>, Failure> {
        let Self { session, runtime, interrupts, .. } = self;
        runtime.block_on(async {
            let work = async {
                let mut texts = Vec::new();
                let Answer::Rows(mut rows) = session.execute(query).await? else { return Ok(texts) };
                while let Some(batch) = rows.next().await {
                    let batch = batch.map_err(crate::Error::from)?;
                    let options = FormatOptions::new();
                    let columns: Vec<_> = batch
                        .columns()
                        .iter()
                        .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
                        .collect::<Result<_, _>>()
                        .map_err(|error| Failure::error(error.to_string()))?;
                    for row in 0..batch.num_rows() {
                        texts.push(columns.iter().map(|column| column.value(row).to_string()).collect());
                    }
                }
                Ok(texts)
            };
            let work = tokio::time::timeout(patience, work);
            match watch(work, session, interrupts, &mut Bar::new()).await? {
                Ok(rows) => rows,
                Err(_) => Err(Failure::error(format!("no answer within {patience:?}: {query}"))),
            }
        })
    }

    /// Tells the user something that is not rows.
    pub(super) fn message(&self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }
}

/// Waits for something while showing how far it has come; Ctrl-C ends the wait, and dropping the work ends the work.
async fn watch<T>(
    work: impl Future<Output = T>,
    session: &Session,
    interrupts: &mut Interrupts,
    bar: &mut Bar,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            biased;
            () = interrupts.next() => return Err(Failure::Interrupted),
            value = &mut work => return Ok(value),
            _ = ticks.tick() => bar.show(session.progress()),
        }
    }
}

/// Writes a line to standard error. That nobody can read it is no reason to stop.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The parser's `Line: 1, Column: 8` in an error's text: the byte at which it starts, the line and the column.
fn position(text: &str) -> Option<(usize, usize, usize)> {
    let start = text.rfind("Line: ")?;
    let rest = &text[start + "Line: ".len()..];
    let (line, rest) = rest.split_once(", Column: ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (line, column) = (line.parse().ok()?, rest[..digits].parse().ok()?);
    (line > 0).then_some((start, line, column))
}

/// The characters of a line that are shown before and behind the place of an error.
const AROUND: usize = 60;

/// This line of a statement, from 1, with a mark under its character `column`, from 1, each on a line of its own; of a long
/// line what stands around the place. `None` where there is nothing to mark.
fn excerpt(statement: &str, line: usize, column: usize) -> Option<String> {
    let line = statement.lines().nth(line.checked_sub(1)?)?;
    let at = column.checked_sub(1)?;
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let characters: Vec<char> = line.chars().map(shown).collect();
    if at > characters.len() || line.trim().is_empty() {
        return None;
    }
    let (from, to) = (at.saturating_sub(AROUND), characters.len().min(at + AROUND));
    let text: String = characters[from..to].iter().collect();
    let before: String = characters[from..at].iter().collect();
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < characters.len() { "…" } else { "" });
    let indent = " ".repeat(width(head) + width(&before));
    Some(format!("\n  {head}{}{tail}\n  {indent}^", text.trim_end()))
}

/// The text with the parser's position, which counts from the start of the statement, counted from that of the script.
fn with_position(text: &str, line: usize, column: usize) -> String {
    match position(text) {
        Some((start, in_statement, column_there)) => {
            let length = format!("Line: {in_statement}, Column: {column_there}").len();
            format!("{}Line: {line}, Column: {column}{}", &text[..start], &text[start + length..])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_of_an_error_counts_from_the_start_of_the_script() {
        let item = Item { task: Task::Statement("SELECT\n 1 FRM".into()), line: 10, column: 5 };
        let located = |line, column| {
            let text = format!("Expected: end, found: FRM at Line: {line}, Column: {column}!");
            match Failure::from(crate::Error::statement(text)).at("a.sql", &item) {
                Failure::Located(text) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(located(2, 4), "a.sql:11: Expected: end, found: FRM at Line: 11, Column: 4!");
        assert_eq!(located(1, 8), "a.sql:10: Expected: end, found: FRM at Line: 10, Column: 12!");
    }

    #[test]
    fn a_mark_stands_under_the_place_of_an_error() {
        assert_eq!(excerpt("SELECT\n 1 FRM t", 2, 4).as_deref(), Some("\n   1 FRM t\n     ^"));
        assert_eq!(excerpt("SELECT '日本' FRM", 1, 13).as_deref(), Some("\n  SELECT '日本' FRM\n                ^"));
        assert_eq!(excerpt("a\tb c", 1, 4).as_deref(), Some("\n  a b c\n     ^"));
        // Behind the last character, where something is missing.
        assert_eq!(excerpt("SELECT (1", 1, 10).as_deref(), Some("\n  SELECT (1\n           ^"));
        let long = format!("SELECT {}, nothing, {}", "a".repeat(200), "b".repeat(200));
        let text = excerpt(&long, 1, 210).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines[0].starts_with("  …aaa") && lines[0].ends_with("bbb…"), "{text}");
        let at = lines[1].chars().count() - 1;
        assert!(lines[0].chars().skip(at).collect::<String>().starts_with("nothing"), "{text}");
        for (line, column) in [(0, 1), (1, 0), (2, 1), (1, 11)] {
            assert_eq!(excerpt("SELECT (1", line, column), None);
        }
    }

    #[test]
    fn an_error_without_a_position_stands_where_its_statement_starts() {
        let item = Item { task: Task::Statement("SELECT x".into()), line: 3, column: 1 };
        for text in ["no column x", "Line: here", "Line: 1, Column", "Line: 0, Column: 0"] {
            match Failure::from(crate::Error::statement(text)).at("a.sql", &item) {
                Failure::Located(located) => assert_eq!(located, format!("a.sql:3: {text}")),
                other => panic!("{other:?}"),
            }
        }
    }
}
