//! Running items: the state that scripts and the prompt share.

use std::fs::File;
use std::future::Future;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::pin::pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bonnetdb::{Answer, Session};
use futures::StreamExt;
use tokio::runtime::Runtime;

use super::failure::ScriptFailure;
use super::interrupt::Interrupts;
use super::output::Output;
use super::page::Report;
use super::progress::Bar;
use super::script::{Item, Pending, ScriptLines, Task, too_long};
use super::variables::Variables;

/// Scripts that include one another deeper than this are taken for a circle.
const DEEPEST: usize = 50;

/// The bytes of a result that are kept to be drawn.
const MOST_BYTES: usize = 64 << 20;

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
    /// Whether runs of `train` have failed.
    pub(super) runs_failed: bool,
    /// The page that takes what is answered instead of the output.
    pub(super) report: Option<Report>,
}

impl Shell {
    pub(super) fn new(session: Session, interrupts: Interrupts, output: Output, quiet: bool) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (variables, scripts) = (Variables::default(), Vec::new());
        let (timing, last, runs_failed, report) = (false, None, false, None);
        Ok(Self { session, runtime, interrupts, variables, output, timing, quiet, scripts, last, runs_failed, report })
    }

    /// Runs a script file, or standard input for `-`.
    pub(super) fn run_file(&mut self, path: &str) -> Result<(), ScriptFailure> {
        if path == "-" {
            return self.run_script("<stdin>", io::stdin().lock());
        }
        let file =
            File::open(path).map_err(|error| ScriptFailure::error(format!("'{path}' cannot be read: {error}")))?;
        self.run_script(path, BufReader::new(file))
    }

    /// Runs a script item by item as its lines come, and stops at the first failure.
    pub(super) fn run_script(&mut self, origin: &str, reader: impl BufRead) -> Result<(), ScriptFailure> {
        if self.scripts.len() >= DEEPEST {
            return Err(ScriptFailure::error(format!(
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

    fn run_lines(&mut self, origin: &str, reader: impl BufRead) -> Result<(), ScriptFailure> {
        let mut lines = ScriptLines::new(reader);
        let mut pending = Pending::new();
        loop {
            let line =
                lines.next().map_err(|(line, text)| ScriptFailure::Located(format!("{origin}:{line}: {text}")))?;
            if let (Some(report), Some(line)) = (&mut self.report, &line) {
                report.line(line);
            }
            let ended = line.is_none();
            let items = match line {
                Some(line) => pending.push(line),
                None => pending.finish(),
            };
            if pending.is_too_long() {
                return Err(ScriptFailure::Located(format!("{origin}: {}", too_long())));
            }
            for item in items {
                match self.run_item(&item).map_err(|failure| failure.at(origin, &item))? {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(()) => return Ok(()),
                }
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Runs one item. `\q` breaks off the script that holds it, or the prompt.
    pub(super) fn run_item(&mut self, item: &Item) -> Result<ControlFlow<()>, ScriptFailure> {
        if self.interrupts.arrived() {
            return Err(ScriptFailure::Interrupted);
        }
        if let Some(report) = &mut self.report {
            report.before(item.line)?;
        }
        let text = match &item.task {
            Task::Statement(text) | Task::Command(text) => text,
        };
        let text = self.variables.substitute(text).map_err(|unreplaced| {
            let before = &text[..unreplaced.offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            ScriptFailure::in_text(unreplaced.message(), text, line, column)
        })?;
        match item.task {
            Task::Statement(_) => {
                let done = self.run_statement(&text).map_err(|failure| failure.in_statement(&text));
                done.map(ControlFlow::Continue)
            }
            Task::Command(_) => self.run_command(&text),
        }
    }

    /// Runs one statement and writes what it answers.
    pub(super) fn run_statement(&mut self, statement: &str) -> Result<(), ScriptFailure> {
        // What the engine takes, without a pager that is read.
        let mut taken = Duration::ZERO;
        self.last = None;
        let Self { session, runtime, interrupts, output, last, report, .. } = self;
        let done = runtime.block_on(async {
            let mut bar = Bar::new();
            let answer = timed(&mut taken, watch(session.execute(statement), session, interrupts, &mut bar)).await??;
            let mut rows = match answer {
                Answer::Done(message) => return Ok(Some(message)),
                Answer::Rows(rows) => rows,
            };
            // A statement that has no columns to answer with (DDL) shows no table.
            let has_columns = !rows.schema().fields().is_empty();
            if let (Some(report), true) = (&mut *report, has_columns) {
                let (schema, mut batches) = (rows.schema(), Vec::new());
                while let Some(batch) = timed(&mut taken, watch(rows.next(), session, interrupts, &mut bar)).await? {
                    batches.push(batch.map_err(bonnetdb::Error::from)?);
                }
                bar.hide();
                report.rows(statement, &schema, &batches)?;
                return Ok(None);
            }
            let mut result = if has_columns { Some(output.begin(rows.schema())?) } else { None };
            let mut rows_so_far = has_columns.then(|| (rows.schema(), Vec::new()));
            let mut bytes = 0;
            while let Some(batch) = timed(&mut taken, watch(rows.next(), session, interrupts, &mut bar)).await? {
                let batch = batch.map_err(bonnetdb::Error::from)?;
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
            Ok::<_, ScriptFailure>(None)
        });
        if let Err(ScriptFailure::Interrupted) = done
            && let Some(kept) = self.runtime.block_on(self.session.committed_runs())
        {
            complain(&format!("Stopped; {kept}."));
        }
        // Not a message that one may do without: these rows have no figures.
        for runs in self.session.take_failed_runs() {
            self.runs_failed = true;
            complain(&runs.to_string());
        }
        let done = done?;
        if let Some(message) = done.filter(|message| !message.is_empty()) {
            if let Some(report) = &mut self.report {
                report.done(statement);
            }
            self.message(&message);
        }
        if self.timing {
            self.message(&format!("Time: {:.3} ms", taken.as_secs_f64() * 1e3));
        }
        Ok(())
    }

    /// The rows of a small query of the command line's own, as text; NULL is empty.
    pub(super) fn ask(&mut self, query: &str, patience: Duration) -> Result<Vec<Vec<String>>, ScriptFailure> {
        let Self { session, runtime, interrupts, .. } = self;
        runtime.block_on(async {
            let work = async {
                let mut texts = Vec::new();
                let Answer::Rows(mut rows) = session.execute(query).await? else { return Ok(texts) };
                while let Some(batch) = rows.next().await {
                    let batch = batch.map_err(bonnetdb::Error::from)?;
                    let options = FormatOptions::new();
                    let columns: Vec<_> = batch
                        .columns()
                        .iter()
                        .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
                        .collect::<Result<_, _>>()
                        .map_err(|error| ScriptFailure::error(error.to_string()))?;
                    for row in 0..batch.num_rows() {
                        texts.push(columns.iter().map(|column| column.value(row).to_string()).collect());
                    }
                }
                Ok(texts)
            };
            let work = tokio::time::timeout(patience, work);
            match watch(work, session, interrupts, &mut Bar::new()).await? {
                Ok(rows) => rows,
                Err(_) => Err(ScriptFailure::error(format!("no answer within {patience:?}: {query}"))),
            }
        })
    }

    /// Shows the user a message beside the rows.
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
) -> Result<T, ScriptFailure> {
    let mut work = pin!(work);
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            biased;
            () = interrupts.next() => return Err(ScriptFailure::Interrupted),
            value = &mut work => return Ok(value),
            _ = ticks.tick() => bar.show(session.progress()),
        }
    }
}

/// Waits for work, and adds how long it took.
async fn timed<T>(taken: &mut Duration, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let done = work.await;
    *taken += started.elapsed();
    done
}

/// Writes a line to standard error. That nobody can read it is no reason to stop.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says what has failed, and the status of a process that has.
pub(super) fn failed(text: &str) -> ExitCode {
    complain(text);
    ExitCode::FAILURE
}
