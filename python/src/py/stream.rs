//! Arrow's C interface of streams in capsules: how rows come from other libraries and go to them without a copy.

use std::ffi::{CStr, c_int, c_void};

use arrow::array::{RecordBatch, RecordBatchReader, StructArray};
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::errors::{DataError, Error, InterfaceError};
use super::wait::Pulse;
use crate::plain;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Rows for another library.
pub(super) fn export<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// Columns for another library.
pub(super) fn export_schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(data_error)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// The text of an exception for another library: its streams know nothing else. What a handler of signals raised, Ctrl-C
/// for one, is raised again in the main thread when that runs Python next, with the library's own exception as its context.
pub(super) fn hand_over(py: Python<'_>, error: PyErr) -> String {
    if error.is_instance_of::<Error>(py) {
        return error.value(py).to_string();
    }
    // Handlers run in the main thread: elsewhere it is an exception of the report of progress.
    if !in_main_thread(py).unwrap_or(false) {
        return error.to_string();
    }
    let pending = Box::into_raw(Box::new(error));
    // SAFETY: the interpreter calls the function at most once, and it takes the box back.
    if unsafe { ffi::Py_AddPendingCall(Some(raise_pending), pending.cast()) } != 0 {
        // No room among such calls. A signal has room at any time.
        // SAFETY: nobody else has the box; and a signal may be set at any time.
        unsafe {
            drop(Box::from_raw(pending));
            ffi::PyErr_SetInterrupt();
        }
    }
    "the query was interrupted".to_owned()
}

fn in_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

/// Raises the exception in a box, as a call that the interpreter makes.
extern "C" fn raise_pending(pending: *mut c_void) -> c_int {
    // SAFETY: what was handed to the interpreter is such a box.
    let error = unsafe { Box::from_raw(pending.cast::<PyErr>()) };
    // Unlike `restore`, this has the exception that is being handled as the context.
    // SAFETY: the interpreter is attached, and takes references of its own.
    Python::attach(|py| unsafe { ffi::PyErr_SetObject(error.get_type(py).as_ptr(), error.value(py).as_ptr()) });
    -1
}

/// The rows of an object of another library: all of them, read now.
///
/// # Errors
/// For what the library itself refuses, and for rows that are no table.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    if object.hasattr("__arrow_c_stream__")? {
        return import_stream(object);
    }
    if object.hasattr("__arrow_c_array__")? {
        return import_array(object);
    }
    let kind = object.get_type().name()?;
    Err(InterfaceError::new_err(format!(
        "a {kind} gives no rows: it has no method __arrow_c_stream__, as frames of pandas and polars and tables of pyarrow have"
    )))
}

fn import_stream(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    refuse_objects(object)?;
    let py = object.py();
    let capsule = object.call_method0("__arrow_c_stream__").map_err(|error| ours(py, error))?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream, which is taken out of it, once.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    check_stream(&mut stream)?;
    let mut reader = ArrowArrayStreamReader::try_new(stream).map_err(data_error)?;
    let schema = plain::schema(&reader.schema());
    let (mut batches, mut pulse) = (Vec::new(), Pulse::new());
    while let Some(batch) = py.detach(|| reader.next()) {
        batches.push(batch.and_then(|batch| plain::under(&schema, &batch)).map_err(data_error)?);
        pulse.beat(py, |_| Ok(()))?;
    }
    Ok((schema, batches))
}

fn import_array(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let pair = object.call_method0("__arrow_c_array__").map_err(|error| ours(object.py(), error))?;
    let pair = pair.cast_into::<PyTuple>()?;
    let (schema, array) = (pair.get_item(0)?.cast_into::<PyCapsule>()?, pair.get_item(1)?.cast_into::<PyCapsule>()?);
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name holds such a structure, which is read.
    check_columns(unsafe { schema.as_ref() })?;
    // SAFETY: capsules of these names hold such structures; the array is taken out of its capsule, the schema read.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) }.map_err(data_error)?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        return Err(DataError::new_err(format!("an array of {} is no table: it has no columns", data.data_type())));
    }
    let batch = RecordBatch::from(StructArray::from(data));
    let schema = plain::schema(&batch.schema());
    let batch = plain::under(&schema, &batch).map_err(data_error)?;
    Ok((schema, vec![batch]))
}

/// An exception of another library as one of ours, which has it as its cause. Ctrl-C is none of its making.
fn ours(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<Error>(py) || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let raised = DataError::new_err(error.value(py).to_string());
    raised.set_cause(py, Some(error));
    raised
}

/// Refuses a frame of polars with a column of objects of Python: it would give their addresses as bytes.
fn refuse_objects(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if !object.get_type().module()?.to_string().starts_with("polars") {
        return Ok(());
    }
    // A series has none, and is no table.
    let Ok(schema) = object.getattr("schema") else { return Ok(()) };
    for column in schema.call_method0("items")?.try_iter()? {
        let (name, kind): (String, Bound<'_, PyAny>) = column?.extract()?;
        if kind.str()? == "Object" {
            let text = format!("column {name}: objects of Python (the dtype Object) are no values of a table");
            return Err(DataError::new_err(text));
        }
    }
    Ok(())
}

/// Fails with the name of a column whose type is none of ours.
fn check_stream(stream: &mut FFI_ArrowArrayStream) -> PyResult<()> {
    let (Some(get_schema), Some(_)) = (stream.get_schema, stream.release) else { return Ok(()) };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and writes a schema to where there is none yet.
    if unsafe { get_schema(stream, &raw mut schema) } != 0 {
        // The reader says what is wrong.
        return Ok(());
    }
    if schema.format() != "+s" {
        return Err(DataError::new_err("a stream of single values is no table: it has no columns; make a frame of it"));
    }
    check_columns(&schema)
}

fn check_columns(schema: &FFI_ArrowSchema) -> PyResult<()> {
    if schema.format() != "+s" {
        return Ok(());
    }
    for column in schema.children() {
        Field::try_from(column).map_err(|error| {
            let name = column.name().unwrap_or_default();
            DataError::new_err(format!("column {name}: a type that BonnetDB does not have ({error})"))
        })?;
    }
    Ok(())
}

pub(super) fn data_error(error: ArrowError) -> PyErr {
    DataError::new_err(error.to_string())
}
