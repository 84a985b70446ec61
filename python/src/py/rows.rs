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
use pyo3::types::{PyByteArray, PyCapsule, PyTuple};

use super::errors::{InterfaceError, NotSupportedError, raise};
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
    pulse: Pulse,
}

impl State {
    fn new(source: Source, schema: SchemaRef, done: Option<String>) -> Self {
        Self { source, schema, done, batches: Vec::new(), next: (0, 0), pulse: Pulse::new() }
    }
}

enum Source {
    /// The statement has not run yet.
    Statement(String),
    Stream(SendableRecordBatchStream),
    End,
}

impl Rows {
    /// The rows of a query that runs when they are first asked for.
    pub(super) fn of_query(
        session: EngineSession,
        progress: Option<Py<PyAny>>,
        text: String,
        schema: SchemaRef,
    ) -> Self {
        let state = State::new(Source::Statement(text), schema, None);
        Self(Arc::new(Shared { session, progress, keep: true, state: Mutex::new(state) }))
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
        Self(Arc::new(Shared { session, progress, keep, state: Mutex::new(state) }))
    }
}

impl Shared {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the statement, if it has not run yet.
    fn start(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        let Source::Statement(text) = &state.source else { return Ok(()) };
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
                Ok(None)
            }
            Ok(Some(Err(error))) => {
                state.source = Source::End;
                let error = raise(error.into());
                let text = wait(py, &|_| Ok(()), self.session.committed_runs())?;
                Err(match text {
                    Some(runs) => PyErr::from_type(error.get_type(py), format!("{}; {runs}", error.value(py))),
                    None => error,
                })
            }
            // Dropping the stream ends the query.
            Err(interrupt) => {
                state.source = Source::End;
                state.batches.clear();
                Err(interrupt)
            }
        }
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
        let pieces = self.0.fetch(py, &mut state, limit.unwrap_or(usize::MAX))?;
        drop(state);
        tuples(py, &pieces)
    }

    /// The rows of a batch as tuples, whatever was fetched; `None` behind the last batch. Only where rows are kept.
    fn batch(&self, py: Python<'_>, at: usize) -> PyResult<Option<Vec<Py<PyTuple>>>> {
        let mut state = self.0.lock(py);
        while state.batches.len() <= at {
            let Some(batch) = self.0.pull(py, &mut state)? else { return Ok(None) };
            state.batches.push(batch);
        }
        let batch = state.batches[at].clone();
        drop(state);
        tuples(py, &[batch]).map(Some)
    }

    /// The first rows as text, at most so many, and whether there are more.
    fn head(&self, py: Python<'_>, limit: usize) -> PyResult<(Vec<Vec<Option<String>>>, bool)> {
        let mut state = self.0.lock(py);
        let before = std::mem::replace(&mut state.next, (0, 0));
        let pieces = self.0.fetch(py, &mut state, limit + 1);
        state.next = before;
        let pieces = pieces?;
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

    /// Two columns of integers without NULLs as int64, one after the other: see `numbers.rs`. Only where rows are kept.
    fn pair(&self, py: Python<'_>, first: usize, second: usize) -> PyResult<Option<Py<PyByteArray>>> {
        let mut state = self.0.lock(py);
        self.0.pull_all(py, &mut state)?;
        let batches = state.batches.clone();
        drop(state);
        numbers::pair(py, &batches, (first, second))
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

    /// The rows as Arrow's stream; those that are not there yet come as they are asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish, as the interface has it: rows come in the types that they have.
        let _ = requested_schema;
        let mut state = self.0.lock(py);
        self.0.start(py, &mut state)?;
        if let Some(done) = &state.done {
            return Err(InterfaceError::new_err(format!("the statement answers no rows ({done})")));
        }
        let schema = Arc::clone(&state.schema);
        if self.0.keep && matches!(state.source, Source::End) {
            // All of them are there: nobody needs to be asked.
            let batches: Vec<_> = state.batches.iter().cloned().map(Ok).collect();
            return stream::export(py, RecordBatchIterator::new(batches, schema));
        }
        drop(state);
        stream::export(py, Reader { rows: Arc::clone(&self.0), schema, at: 0, failed: false })
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

/// The rows from the first on, as another library reads them.
struct Reader {
    rows: Arc<Shared>,
    schema: SchemaRef,
    at: usize,
    failed: bool,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        // The caller may hold the interpreter's lock or not: this takes it in either case, and gives it up to wait.
        let next = Python::attach(|py| {
            let mut state = self.rows.lock(py);
            if let Some(batch) = state.batches.get(self.at) {
                let batch = batch.clone();
                if self.rows.keep {
                    self.at += 1;
                    return Ok(Some(batch));
                }
                let (_, row) = std::mem::replace(&mut state.next, (0, 0));
                state.batches.remove(0);
                return Ok(Some(batch.slice(row, batch.num_rows() - row)));
            }
            let batch = self.rows.pull(py, &mut state).map_err(|error| error.value(py).to_string())?;
            if let (true, Some(batch)) = (self.rows.keep, &batch) {
                state.batches.push(batch.clone());
                self.at += 1;
            }
            Ok::<_, String>(batch)
        });
        self.failed = next.is_err();
        next.map_err(ArrowError::ComputeError).transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
