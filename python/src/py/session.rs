//! A session on an engine, and the statements that run in it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use bonnetdb::{Engine, EngineOptions, Frames, Parameters, Session as EngineSession, bind, parse_size, split};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::{InterfaceError, ProgrammingError, raise};
use super::frames::{self, Scope, Tables};
use super::rows::Rows;
use super::wait::wait;

/// One user's settings and current schema on an engine.
#[pyclass(frozen, module = "bonnetdb._bonnetdb")]
pub(super) struct Session {
    session: Mutex<Option<EngineSession>>,
    registered: Tables,
    /// Called with the label, the work done and the whole of it while a statement lasts.
    progress: Option<Py<PyAny>>,
}

impl Session {
    fn open(&self) -> PyResult<EngineSession> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        session.ok_or_else(|| InterfaceError::new_err("the connection is closed"))
    }

    /// The session with the tables of the program around a statement, and these.
    fn with(&self, variables: Vec<Py<PyDict>>) -> PyResult<(EngineSession, Arc<Scope>)> {
        let scope = Arc::new(Scope::new(&self.registered, variables));
        let frames: Arc<dyn Frames> = Arc::<Scope>::clone(&scope);
        Ok((self.open()?.with_frames(frames), scope))
    }

    fn progress(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.progress.as_ref().map(|progress| progress.clone_ref(py))
    }

    fn quietly<T: Send>(&self, py: Python<'_>, work: impl Future<Output = bonnetdb::Result<T>> + Send) -> PyResult<T> {
        wait(py, &|_| Ok(()), work)?.map_err(raise)
    }
}

fn out_of_range(threads: i64) -> PyErr {
    let most = EngineOptions::MOST_THREADS;
    ProgrammingError::new_err(format!("threads = {threads}: expected a whole number from 1 to {most}"))
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (path=None, read_only=false, threads=None, memory_limit=None, progress=None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        read_only: bool,
        threads: Option<i64>,
        memory_limit: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        // The engine says which numbers there may be, of those that are any.
        let threads = threads.map(|threads| usize::try_from(threads).map_err(|_| out_of_range(threads))).transpose()?;
        let options = EngineOptions { threads, memory_limit, database: path, read_only };
        let session = py.detach(|| Engine::open(options).map(|engine| engine.session())).map_err(raise)?;
        Ok(Self { session: Mutex::new(Some(session)), registered: Tables::default(), progress })
    }

    /// Another session on the same engine, with settings of its own.
    #[pyo3(signature = (progress=None))]
    fn another(&self, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let session = self.open()?.engine().session();
        Ok(Self { session: Mutex::new(Some(session)), registered: Arc::clone(&self.registered), progress })
    }

    /// Ends the session: statements are refused from now on. Rows that are being read are read to their end.
    fn close(&self, py: Python<'_>) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(session));
    }

    /// Whether the session has ended.
    #[getter]
    fn closed(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// The bytes of a size as a user writes it, `512MB` or `4GiB`: the engine's reading of it.
    #[staticmethod]
    fn parse_size(text: &str) -> PyResult<usize> {
        parse_size(text).map_err(ProgrammingError::new_err)
    }

    /// The statements of a text.
    #[staticmethod]
    fn split(text: &str) -> Vec<String> {
        split(text).into_iter().map(|piece| piece.text.to_owned()).collect()
    }

    /// A statement with its parameters put in as these literals: a list of them, or a dict by name.
    #[staticmethod]
    fn bind(text: &str, literals: &Bound<'_, PyAny>) -> PyResult<String> {
        let parameters = match literals.extract::<Vec<String>>() {
            Ok(values) => Parameters::Positional(values),
            Err(_) => Parameters::Named(literals.extract::<BTreeMap<String, String>>()?),
        };
        bind(text, &parameters).map_err(raise)
    }

    /// Runs a statement and answers its rows, which come as they are asked for.
    #[pyo3(signature = (text, variables=Vec::new(), keep=false))]
    fn run(&self, py: Python<'_>, text: &str, variables: Vec<Py<PyDict>>, keep: bool) -> PyResult<Rows> {
        let (session, scope) = self.with(variables)?;
        let report = |py: Python<'_>| match (&self.progress, session.progress()) {
            (Some(show), Some(progress)) => show.call1(py, (progress.label, progress.done, progress.total)).map(|_| ()),
            _ => Ok(()),
        };
        let answer = wait(py, &report, session.execute(text))?.map_err(|error| scope.raise(error))?;
        Ok(Rows::of_answer(session, self.progress(py), answer, keep))
    }

    /// The rows of a query, which is planned now and runs when they are first asked for; `None` where the statement is no
    /// query.
    #[pyo3(signature = (text, variables=Vec::new()))]
    fn query(&self, py: Python<'_>, text: String, variables: Vec<Py<PyDict>>) -> PyResult<Option<Rows>> {
        let (session, scope) = self.with(variables)?;
        let schema = wait(py, &|_| Ok(()), session.describe(&text))?.map_err(|error| scope.raise(error))?;
        Ok(schema.map(|schema| Rows::of_query(session, self.progress(py), text, schema)))
    }

    /// Makes the rows that an object has now a table of this name, in the place of one registered before.
    fn register(&self, py: Python<'_>, name: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let session = self.open()?;
        if py.detach(|| session.context().table_exist(name)).is_ok_and(|taken| taken) {
            let text = format!("there is a table {name} already: register the frame under another name");
            return Err(ProgrammingError::new_err(text));
        }
        let table = frames::table(object)?;
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_lowercase(), table);
        Ok(())
    }

    /// Forgets a registered table; whether there was one.
    fn unregister(&self, name: &str) -> bool {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).remove(&name.to_lowercase()).is_some()
    }

    /// Appends rows to a table and answers their number.
    fn append(&self, py: Python<'_>, table: &str, object: &Bound<'_, PyAny>) -> PyResult<u64> {
        let session = self.open()?;
        let (schema, batches) = frames::rows(object)?;
        let rows =
            py.detach(|| arrow::compute::concat_batches(&schema, &batches)).map_err(super::stream::data_error)?;
        self.quietly(py, session.append(table, rows))
    }

    /// Makes a graph of tables by name: `nodes`, `edges`, and `splits` if there are any.
    fn create_graph(
        &self,
        py: Python<'_>,
        name: &str,
        tables: HashMap<String, Bound<'_, PyAny>>,
        directed: bool,
        replace: bool,
    ) -> PyResult<()> {
        let session = self.open()?;
        let mut read: Vec<(&'static str, Vec<RecordBatch>)> = Vec::new();
        for table in ["nodes", "edges", "splits"] {
            if let Some(object) = tables.get(table) {
                let (schema, mut batches) = frames::rows(object)?;
                if batches.is_empty() {
                    batches.push(RecordBatch::new_empty(schema));
                }
                read.push((table, batches));
            }
        }
        self.quietly(py, session.create_graph(name, read, directed, replace))
    }
}
