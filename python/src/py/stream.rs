//! Arrow's C interface of streams in capsules: how rows come from other libraries and go to them without a copy.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray};
use arrow::datatypes::{Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::errors::{DataError, InterfaceError};

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

/// Whether an object gives its rows to others.
pub(super) fn is_exporter(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // A class has the methods as well, but no rows.
    if object.is_instance_of::<pyo3::types::PyType>() {
        return Ok(false);
    }
    Ok(object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?)
}

/// The rows of an object of another library: all of them, read now.
///
/// # Errors
/// The exception of the library, and for rows that are no table.
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
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream, which is taken out of it, once.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(data_error)?;
    let schema = bare(&reader.schema());
    let read = || reader.map(|batch| under(&schema, batch?)).collect::<Result<Vec<_>, ArrowError>>();
    let batches = object.py().detach(read).map_err(data_error)?;
    Ok((schema, batches))
}

fn import_array(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) = (pair.get_item(0)?.cast_into::<PyCapsule>()?, pair.get_item(1)?.cast_into::<PyCapsule>()?);
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold such structures; the array is taken out of its capsule, the schema read.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) }.map_err(data_error)?;
    if !matches!(data.data_type(), arrow::datatypes::DataType::Struct(_)) {
        return Err(DataError::new_err(format!("an array of {} is no table: it has no columns", data.data_type())));
    }
    let batch = RecordBatch::from(StructArray::from(data));
    let schema = bare(&batch.schema());
    let batch = under(&schema, batch).map_err(data_error)?;
    Ok((schema, vec![batch]))
}

/// The same columns under another schema.
fn under(schema: &SchemaRef, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
}

/// A schema without what libraries write beside it for themselves; columns may be NULL.
fn bare(schema: &SchemaRef) -> SchemaRef {
    let fields = schema
        .fields()
        .iter()
        .map(|field| Arc::new(field.as_ref().clone().with_metadata(HashMap::new()).with_nullable(true)));
    Arc::new(Schema::new(fields.collect::<Fields>()))
}

pub(super) fn data_error(error: ArrowError) -> PyErr {
    DataError::new_err(error.to_string())
}
