//! The rows of a statement, which come as they are asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bonnetdb::{Answer, Session as EngineSession};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyTuple, PyType};

use super::errors::{Error, FailedRunsWarning, InterfaceError, NotSupportedError, OperationalError, raise};
use super::numbers;
use super::stream;
use super::values;
use super::wait::{Pulse, wait};

/// Rows that become objects between two looks for signals.
const TOGETHER: usize = 1 << 14;

/// The rows of one statement. They come from the engine as they are asked for.
#[pyclass(frozen, module = "bonnetdb._bonnetdb")]
pub(super) struct Rows(Arc<Shared>);

/// The state that readers of the same rows share.
pub(super) struct Shared {
    session: EngineSession,
    progress: Option<Py<PyAny>>,
    /// Whether rows stay for those who ask again.
    keep: bool,
    /// The query of rows that can be asked for anew: it runs again after a run that did not end well.
    query: Option<Arc<str>>,
    state: Mutex<State>,
}

struct State {
    source: Source,
    schema: SchemaRef,
    /// The tag of a statement without rows.
    done: Option<String>,
    /// The batches that came, if they are kept, else those that nobody took yet.
    batches: Vec<RecordBatch>,
    /// The place of `fetch`: a batch and a row of it.
    next: (usize, usize),
    /// How many runs did not end well.
    failures: u64,
    pulse: Pulse,
}

impl State {
    fn new(source: Source, schema: SchemaRef, done: Option<String>) -> Self {
        Self { source, schema, done, batches: Vec::new(), next: (0, 0), failures: 0, pulse: Pulse::new() }
    }
}

enum Source {
    /// The query has not run yet, or has to run again.
    Query(Arc<str>),
    Stream(SendableRecordBatchStream),
    End,
    /// Not all rows came, and they cannot be asked for anew: the exception that says so.
    Failed(Py<PyType>, String),
}

impl Rows {
    /// The rows of a query that runs when they are first asked for.
    pub(super) fn of_query(
        session: EngineSession,
        progress: Option<Py<PyAny>>,
        text: String,
        schema: SchemaRef,
    ) -> Self {
        let query: Arc<str> = text.into();
        let state = State::new(Source::Query(Arc::clone(&query)), schema, None);
        Self(Arc::new(Shared { session, progress, keep: true, query: Some(query), state: Mutex::new(state) }))
    }

    /// The answer of a statement that runs.
    pub(super) fn of_answer(session: EngineSession, progress: Option<Py<PyAny>>, answer: Answer, keep: bool) -> Self {
        let (source, schema, done) = match answer {
            Answer::Rows(rows) => {
                let schema = rows.schema();
                (Source::Stream(rows), schema, None)
            }
            Answer::Done(done) => (Source::End, SchemaRef::new(arrow::datatypes::Schema::empty()), Some(done)),
        };
        let state = State::new(source, schema, done);
        Self(Arc::new(Shared { session, progress, keep, query: None, state: Mutex::new(state) }))
    }
}

impl Shared {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the query, if it has not run yet.
    fn start(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        let text = match &state.source {
            Source::Query(text) => text,
            Source::Stream(_) | Source::End => return Ok(()),
            Source::Failed(class, text) => return Err(PyErr::from_type(class.bind(py).clone(), text.clone())),
        };
        state.pulse = Pulse::new();
        let answer = wait(py, &|py| self.report(py), self.session.execute(text))?.map_err(raise)?;
        match answer {
            Answer::Rows(rows) => {
                state.schema = rows.schema();
                state.source = Source::Stream(rows);
            }
            Answer::Done(done) => {
                state.done = Some(done);
                state.source = Source::End;
                self.warn(py)?;
            }
        }
        Ok(())
    }

    /// The next batch of the engine; none at the end.
    fn pull(&self, py: Python<'_>, state: &mut State) -> PyResult<Option<RecordBatch>> {
        self.start(py, state)?;
        let Source::Stream(rows) = &mut state.source else { return Ok(None) };
        let next = match state.pulse.beat(py, |py| self.report(py)) {
            Ok(()) => wait(py, &|py| self.report(py), rows.next()),
            Err(interrupt) => Err(interrupt),
        };
        match next {
            Ok(Some(Ok(batch))) => Ok(Some(batch)),
            Ok(None) => {
                state.source = Source::End;
                self.warn(py)?;
                Ok(None)
            }
            Ok(Some(Err(error))) => {
                let error = raise(error.into());
                self.give_up(py, state, &error);
                let text = wait(py, &|_| Ok(()), self.session.committed_runs())?;
                Err(match text {
                    Some(runs) => PyErr::from_type(error.get_type(py), format!("{}; {runs}", error.value(py))),
                    None => error,
                })
            }
            Err(interrupt) => {
                self.give_up(py, state, &interrupt);
                Err(interrupt)
            }
        }
    }

    /// Ends a run whose rows did not all come, and forgets those that did: nobody takes a part for the whole. Dropping the
    /// stream ends the query.
    fn give_up(&self, py: Python<'_>, state: &mut State, error: &PyErr) {
        state.batches.clear();
        state.next = (0, 0);
        state.failures += 1;
        state.source = match &self.query {
            Some(query) => Source::Query(Arc::clone(query)),
            None if error.is_instance_of::<Error>(py) => {
                let text = format!("the rows end early, for the query failed: {}", error.value(py));
                Source::Failed(error.get_type(py).unbind(), text)
            }
            None => {
                let text = "the rows end early, for the query was interrupted: run it again";
                Source::Failed(py.get_type::<OperationalError>().unbind(), text.to_owned())
            }
        };
    }

    /// Warns of the runs of the statement that failed: their rows are like others.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        for runs in self.session.take_failed_runs() {
            let text = std::ffi::CString::new(runs.to_string().replace('\0', " "))?;
            PyErr::warn(py, &py.get_type::<FailedRunsWarning>(), &text, 3)?;
        }
        Ok(())
    }

    fn report(&self, py: Python<'_>) -> PyResult<()> {
        let (Some(show), Some(progress)) = (&self.progress, self.session.progress()) else { return Ok(()) };
        show.call1(py, (progress.label, progress.done, progress.total)).map(|_| ())
    }

    /// Takes at most so many rows as the ends of `fetch`: whole batches where the limit allows.
    fn fetch(&self, py: Python<'_>, state: &mut State, limit: usize) -> PyResult<Vec<RecordBatch>> {
        let mut pieces = Vec::new();
        let mut left = limit;
        while left > 0 {
            let (at, row) = state.next;
            let Some(batch) = state.batches.get(at) else {
                let Some(batch) = self.pull(py, state)? else { break };
                state.batches.push(batch);
                continue;
            };
            let count = left.min(batch.num_rows() - row);
            if count > 0 {
                pieces.push(batch.slice(row, count));
                left -= count;
            }
            if row + count < batch.num_rows() {
                state.next = (at, row + count);
            } else if self.keep {
                state.next = (at + 1, 0);
            } else {
                state.batches.remove(at);
                state.next = (at, 0);
            }
        }
        Ok(pieces)
    }

    /// Makes rows that were taken by `fetch`, which moved from `before` to `after`, the next ones again.
    fn put_back(&self, py: Python<'_>, pieces: Vec<RecordBatch>, before: (usize, usize), after: (usize, usize)) {
        let mut state = self.lock(py);
        let state = &mut *state;
        if !self.keep {
            let (_, row) = std::mem::take(&mut state.next);
            if let Some(first) = state.batches.first_mut() {
                *first = first.slice(row, first.num_rows() - row);
            }
            state.batches.splice(0..0, pieces);
        } else if state.next == after {
            // Where another thread has fetched meanwhile, it would get its rows twice.
            state.next = before;
        }
    }

    fn pull_all(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        while let Some(batch) = self.pull(py, state)? {
            state.batches.push(batch);
        }
        Ok(())
    }
}

#[pymethods]
impl Rows {
    /// The names of the columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Vec<String> {
        self.0.lock(py).schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The types of the columns in SQL, and whether they take NULLs.
    #[getter]
    fn types(&self, py: Python<'_>) -> Vec<(String, bool)> {
        let state = self.0.lock(py);
        state.schema.fields().iter().map(|field| (bonnetdb::sql_type(field.data_type()), field.is_nullable())).collect()
    }

    /// What a statement without rows did, such as `INSERT 3`.
    #[getter]
    fn done(&self, py: Python<'_>) -> Option<String> {
        self.0.lock(py).done.clone()
    }

    /// Runs the statement, if it has not run yet, without reading rows.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        self.0.start(py, &mut self.0.lock(py))
    }

    /// The next rows as tuples, at most so many; all that are left without a limit.
    #[pyo3(signature = (limit=None))]
    fn fetch(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<Vec<Py<PyTuple>>> {
        let mut state = self.0.lock(py);
        let before = state.next;
        let pieces = self.0.fetch(py, &mut state, limit.unwrap_or(usize::MAX))?;
        let after = state.next;
        drop(state);
        let rows = tuples(py, &pieces);
        if rows.is_err() {
            self.0.put_back(py, pieces, before, after);
        }
        rows
    }

    /// The rows of a batch as tuples, whatever was fetched, and the number of the query's run; `None` behind the last batch.
    /// Only where rows are kept.
    ///
    /// # Errors
    /// If those of the batches before came of another `run`: it may have had its rows in another order.
    #[pyo3(signature = (at, run=None))]
    fn batch(&self, py: Python<'_>, at: usize, run: Option<u64>) -> PyResult<Option<(Vec<Py<PyTuple>>, u64)>> {
        let mut state = self.0.lock(py);
        if run.is_some_and(|run| run != state.failures) {
            let text = "the query failed or was interrupted while its rows were read: read them from the first on";
            return Err(OperationalError::new_err(text));
        }
        while state.batches.len() <= at {
            let Some(batch) = self.0.pull(py, &mut state)? else { return Ok(None) };
            state.batches.push(batch);
        }
        let (batch, run) = (state.batches[at].clone(), state.failures);
        drop(state);
        Ok(Some((tuples(py, &[batch])?, run)))
    }

    /// The first rows as text, at most so many, and whether there are more.
    fn head(&self, py: Python<'_>, limit: usize) -> PyResult<(Vec<Vec<Option<String>>>, bool)> {
        let mut state = self.0.lock(py);
        let before = std::mem::take(&mut state.next);
        // After an error there is no place to go back to: the query runs again.
        let pieces = self.0.fetch(py, &mut state, limit + 1)?;
        state.next = before;
        let options = FormatOptions::default();
        let mut rows = Vec::new();
        for piece in &pieces {
            let columns = piece.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
            let columns = columns.collect::<Result<Vec<_>, _>>().map_err(stream::data_error)?;
            for row in 0..piece.num_rows() {
                let cells = columns.iter().zip(piece.columns());
                rows.push(
                    cells.map(|(text, column)| column.is_valid(row).then(|| text.value(row).to_string())).collect(),
                );
            }
        }
        let more = rows.len() > limit;
        rows.truncate(limit);
        Ok((rows, more))
    }

    /// Reads all rows and answers their number. Only where rows are kept.
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        let mut state = self.0.lock(py);
        self.0.pull_all(py, &mut state)?;
        Ok(state.batches.iter().map(RecordBatch::num_rows).sum())
    }

    /// A column of numbers, or of lists of numbers, for NumPy: see `numbers.rs`. Only where rows are kept.
    fn numbers(&self, py: Python<'_>, column: usize) -> PyResult<Option<numbers::Column>> {
        let mut state = self.0.lock(py);
        self.0.pull_all(py, &mut state)?;
        let (schema, batches) = (Arc::clone(&state.schema), state.batches.clone());
        drop(state);
        numbers::column(py, &batches, column, schema.field(column).data_type())
    }

    /// Two columns of numbers of nodes as `edge_index`, as they are or both ways: see `numbers.rs`. Only where rows are kept.
    fn edge_index<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        second: usize,
        nodes: u64,
        both: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut state = self.0.lock(py);
        self.0.pull_all(py, &mut state)?;
        let batches = state.batches.clone();
        drop(state);
        numbers::edge_index(py, &batches, (first, second), nodes, both)
    }

    /// A column as a list of objects. Only where rows are kept.
    fn objects(&self, py: Python<'_>, column: usize) -> PyResult<Vec<Py<PyAny>>> {
        let mut state = self.0.lock(py);
        self.0.pull_all(py, &mut state)?;
        let batches = state.batches.clone();
        drop(state);
        let mut all = Vec::new();
        for piece in batches.iter().flat_map(pieces) {
            py.check_signals()?;
            all.extend(objects(py, &piece, column)?);
        }
        Ok(all)
    }

    /// The rows as Arrow's stream. Those that are kept are all read first, where Ctrl-C is heard as itself: another library
    /// knows only texts, and may ask in threads of its own. Else they come as they are asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish, as the interface has it: rows come in the types that they have.
        let _ = requested_schema;
        let mut state = self.0.lock(py);
        match self.0.keep {
            true => self.0.pull_all(py, &mut state)?,
            false => self.0.start(py, &mut state)?,
        }
        if let Some(done) = &state.done {
            return Err(InterfaceError::new_err(format!("the statement answers no rows ({done})")));
        }
        let schema = Arc::clone(&state.schema);
        if self.0.keep {
            let batches: Vec<_> = state.batches.iter().cloned().map(Ok).collect();
            return stream::export(py, RecordBatchIterator::new(batches, schema));
        }
        drop(state);
        stream::export(py, Reader { rows: Arc::clone(&self.0), schema })
    }

    /// The columns as Arrow's schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        stream::export_schema(py, &self.0.lock(py).schema)
    }
}

/// A batch in pieces of so few rows that each is soon converted.
fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + '_ {
    let starts = (0..batch.num_rows()).step_by(TOGETHER);
    starts.map(move |start| batch.slice(start, TOGETHER.min(batch.num_rows() - start)))
}

/// The values of a column; an error of its type says which column it is.
fn objects(py: Python<'_>, batch: &RecordBatch, column: usize) -> PyResult<Vec<Py<PyAny>>> {
    values::objects(py, batch.column(column)).map_err(|error| {
        if !error.is_instance_of::<NotSupportedError>(py) {
            return error;
        }
        let name = batch.schema_ref().field(column).name();
        NotSupportedError::new_err(format!("column {name}: {}", error.value(py)))
    })
}

fn tuples(py: Python<'_>, batches: &[RecordBatch]) -> PyResult<Vec<Py<PyTuple>>> {
    let mut rows = Vec::new();
    for piece in batches.iter().flat_map(pieces) {
        py.check_signals()?;
        let columns = (0..piece.num_columns()).map(|column| objects(py, &piece, column));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        for row in 0..piece.num_rows() {
            rows.push(PyTuple::new(py, columns.iter().map(|column| &column[row]))?.unbind());
        }
    }
    Ok(rows)
}

/// Rows that are not kept, as another library reads them.
struct Reader {
    rows: Arc<Shared>,
    schema: SchemaRef,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The caller may hold the interpreter's lock or not: this takes it in either case, and gives it up to wait.
        let next = Python::attach(|py| {
            let mut state = self.rows.lock(py);
            if state.batches.is_empty() {
                return self.rows.pull(py, &mut state).map_err(|error| stream::hand_over(py, error));
            }
            let (_, row) = std::mem::take(&mut state.next);
            let batch = state.batches.remove(0);
            Ok(Some(batch.slice(row, batch.num_rows() - row)))
        });
        next.map_err(ArrowError::ComputeError).transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
