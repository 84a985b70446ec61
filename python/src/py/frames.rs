//! Frames of the program as tables: those that were registered, and those that variables around a statement name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{MutableArrayData, RecordBatch, RecordBatchOptions, make_array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use bonnetdb::{ErrorKind, Frames};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::MemTable;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::errors::{self, ProgrammingError};
use super::stream;

/// Rows of a batch that a query reads at once.
const ROWS: usize = 8192;

/// Tables by the names that statements give them.
pub(super) type Tables = Arc<Mutex<HashMap<String, Arc<dyn TableProvider>>>>;

/// The tables of a program around one statement. What a variable holds is read once, when it is first asked for.
pub(super) struct Scope {
    pub(super) registered: Tables,
    /// The variables around the statement: the caller's own, then its module's.
    pub(super) variables: Vec<Py<PyDict>>,
    read: Tables,
    /// Names of variables that hold no table, and what these are.
    refused: Mutex<Vec<(String, String)>>,
}

impl Scope {
    pub(super) fn new(registered: &Tables, variables: Vec<Py<PyDict>>) -> Self {
        Self { registered: Arc::clone(registered), variables, read: Tables::default(), refused: Mutex::default() }
    }

    /// An error of the statement as an exception. Where a table is missing whose name a variable has, it says why that is none.
    pub(super) fn raise(&self, error: bonnetdb::Error) -> PyErr {
        if error.kind() == ErrorKind::UnknownTable {
            let text = error.to_string();
            let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            let why = refused.iter().filter(|(name, _)| text.contains(name)).map(|(_, why)| why.as_str());
            let texts: Vec<&str> = std::iter::once(text.as_str()).chain(why).collect();
            return ProgrammingError::new_err(texts.join("\n"));
        }
        errors::raise(error)
    }
}

impl Frames for Scope {
    fn frame(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let folded = name.to_lowercase();
        for tables in [&self.registered, &self.read] {
            if let Some(table) = tables.lock().unwrap_or_else(PoisonError::into_inner).get(&folded) {
                return Ok(Some(Arc::clone(table)));
            }
        }
        if self.variables.is_empty() {
            return Ok(None);
        }
        // The rows may be those of another query, for which this thread of the engine must not be missing.
        let found = tokio::task::block_in_place(|| {
            Python::attach(|py| match variable(py, &self.variables, name)? {
                Found::Rows(object) => table(&object).map(Some),
                Found::Nothing(why) => {
                    let why = why.map(|why| (name.to_owned(), why));
                    self.refused.lock().unwrap_or_else(PoisonError::into_inner).extend(why);
                    Ok(None)
                }
            })
        });
        let table = found.map_err(|error| {
            DataFusionError::Plan(format!("the variable {name} cannot be read as a table: {}", text_of(&error)))
        })?;
        if let Some(table) = &table {
            self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(folded, Arc::clone(table));
        }
        Ok(table)
    }
}

/// The text of an exception.
fn text_of(error: &PyErr) -> String {
    Python::attach(|py| error.value(py).to_string())
}

/// What stands under a name among variables.
enum Found<'py> {
    Rows(Bound<'py, PyAny>),
    /// No rows; and what there is instead.
    Nothing(Option<String>),
}

/// The variable of this name that holds rows. Names without quotes come in lower case: else the only one that differs from
/// the name by case alone.
fn variable<'py>(py: Python<'py>, scopes: &[Py<PyDict>], name: &str) -> PyResult<Found<'py>> {
    let rows_of = py.import("bonnetdb.frames")?.getattr("rows_of")?;
    let mut refused = None;
    let mut rows = |key: &str, object: Bound<'py, PyAny>| -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = rows_of.call1((key, object))?;
        if let Ok(why) = found.cast::<PyString>() {
            refused.get_or_insert(why.to_string());
            return Ok(None);
        }
        Ok((!found.is_none()).then_some(found))
    };
    for scope in scopes {
        let scope = scope.bind(py);
        if let Some(object) = scope.get_item(name)?
            && let Some(found) = rows(name, object)?
        {
            return Ok(Found::Rows(found));
        }
        let mut found = None;
        // A copy: another thread may set a variable meanwhile.
        for (key, object) in scope.copy()?.iter() {
            let Ok(key) = key.extract::<String>() else { continue };
            if key == name || key.to_lowercase() != name.to_lowercase() {
                continue;
            }
            let Some(object) = rows(&key, object)? else { continue };
            if found.replace(object).is_some() {
                let text = format!("several variables have this name but for case: write \"{key}\" in quotes");
                return Err(ProgrammingError::new_err(text));
            }
        }
        if let Some(found) = found {
            return Ok(Found::Rows(found));
        }
    }
    Ok(Found::Nothing(refused))
}

/// The rows that an object has now, as a table.
///
/// # Errors
/// If it gives no rows, or its columns are no table's.
pub(super) fn table(object: &Bound<'_, PyAny>) -> PyResult<Arc<dyn TableProvider>> {
    let (schema, batches) = rows(object)?;
    let mut pieces = Vec::new();
    for batch in batches {
        let starts = (0..batch.num_rows()).step_by(ROWS);
        pieces.extend(starts.map(|start| batch.slice(start, ROWS.min(batch.num_rows() - start))));
    }
    let table = MemTable::try_new(schema, vec![pieces]).map_err(|error| errors::raise(error.into()))?;
    Ok(Arc::new(table))
}

/// The rows that an object has now. Those of a frame that can be changed in place are copied.
pub(super) fn rows(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let (schema, batches) = stream::import(object)?;
    let module = object.get_type().module()?.to_string();
    if !module.starts_with("pandas") {
        return Ok((schema, batches));
    }
    let copied = object.py().detach(|| batches.iter().map(copy).collect::<Result<Vec<_>, _>>());
    Ok((schema, copied.map_err(stream::data_error)?))
}

fn copy(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| {
        let data = column.to_data();
        let mut copied = MutableArrayData::new(vec![&data], false, data.len());
        copied.try_extend(0, 0, data.len())?;
        Ok(make_array(copied.freeze()))
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect::<Result<_, ArrowError>>()?, &options)
}
