//! Tables out of columns of Python: arrays of NumPy by their memory, lists of plain values by their types.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, ListArray, NullArray, PrimitiveArray,
    RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StringArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Schema,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyString};

use super::errors::DataError;
use super::stream;

/// A table of columns by name. A column is an array of NumPy with one dimension, or two (lists of one length), or a list
/// of bools, integers, floats, texts, or lists of numbers, with None for NULL.
#[pyclass(frozen, module = "bonnetdb._bonnetdb")]
pub(super) struct Table(RecordBatch);

#[pymethods]
impl Table {
    #[new]
    fn new(columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, values) in columns.iter() {
            let name: String = name.extract()?;
            let array = column(&name, &values)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let rows = arrays.first().map_or(0, |array| array.len());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        Ok(Self(batch.map_err(stream::data_error)?))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        stream::export(py, Box::new(batches) as Box<dyn RecordBatchReader + Send>)
    }
}

fn column(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if values.hasattr("dtype")? && values.hasattr("ndim")? {
        return array(name, values);
    }
    let values: Vec<Bound<'_, PyAny>> = values.try_iter()?.collect::<PyResult<_>>()?;
    list(name, &values)
}

/// An array of NumPy.
fn array(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let kind: String = values.getattr("dtype")?.str()?.extract()?;
    let dimensions: usize = values.getattr("ndim")?.extract()?;
    if dimensions == 0
        || dimensions > 2
        || !matches!(kind.as_bytes()[0], b'i' | b'u' | b'f' | b'b')
        || kind == "float16"
    {
        let values: Vec<Bound<'_, PyAny>> = values.call_method0("tolist")?.try_iter()?.collect::<PyResult<_>>()?;
        return list(name, &values);
    }
    let numpy = values.py().import("numpy")?;
    let whole = numpy.call_method1("ascontiguousarray", (values,))?;
    let items: ArrayRef = match kind.as_str() {
        "bool" => cast(&buffer::<UInt8Type>(&whole.call_method1("view", ("uint8",))?)?, &DataType::Boolean)
            .map_err(stream::data_error)?,
        "int8" => buffer::<Int8Type>(&whole)?,
        "int16" => buffer::<Int16Type>(&whole)?,
        "int32" => buffer::<Int32Type>(&whole)?,
        "int64" => buffer::<Int64Type>(&whole)?,
        "uint8" => buffer::<UInt8Type>(&whole)?,
        "uint16" => buffer::<UInt16Type>(&whole)?,
        "uint32" => buffer::<UInt32Type>(&whole)?,
        "uint64" => buffer::<UInt64Type>(&whole)?,
        "float32" => buffer::<Float32Type>(&whole)?,
        "float64" => buffer::<Float64Type>(&whole)?,
        other => return Err(DataError::new_err(format!("the column {name} has the unsupported dtype {other}"))),
    };
    if dimensions == 1 {
        return Ok(items);
    }
    let (rows, width): (usize, usize) = values.getattr("shape")?.extract()?;
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let fixed = FixedSizeListArray::try_new_with_length(Arc::clone(&field), narrow(width)?, items, None, rows);
    cast(&fixed.map_err(stream::data_error)?, &DataType::List(field)).map_err(stream::data_error)
}

/// The items of an array of this type, in rows, copied.
fn buffer<T: ArrowPrimitiveType>(array: &Bound<'_, PyAny>) -> PyResult<ArrayRef>
where
    T::Native: Element,
{
    let items = PyBuffer::<T::Native>::get(array)?.to_vec(array.py())?;
    Ok(Arc::new(PrimitiveArray::<T>::from_iter_values(items)))
}

fn narrow(width: usize) -> PyResult<i32> {
    i32::try_from(width).map_err(|_| DataError::new_err(format!("lists of {width} items are too long")))
}

/// The kind of a list's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Nothing,
    Bool,
    Int,
    Float,
    Text,
    List,
}

fn kind(name: &str, row: usize, value: &Bound<'_, PyAny>) -> PyResult<Kind> {
    Ok(if value.is_none() {
        Kind::Nothing
    } else if value.is_instance_of::<PyBool>() {
        Kind::Bool
    } else if value.is_instance_of::<PyInt>() {
        Kind::Int
    } else if value.is_instance_of::<PyFloat>() {
        Kind::Float
    } else if value.is_instance_of::<PyString>() {
        Kind::Text
    } else if value.hasattr("__index__")? {
        Kind::Int
    } else if value.hasattr("__float__")? && !value.hasattr("__len__")? {
        Kind::Float
    } else if value.hasattr("__len__")? && value.hasattr("__getitem__")? && !value.hasattr("keys")? {
        Kind::List
    } else {
        let found = value.get_type().name()?;
        return Err(DataError::new_err(format!("column {name}, row {row}: a {found} is no value of a table")));
    })
}

/// A list of plain values. Integers among floats are floats; any other mixture is refused.
fn list(name: &str, values: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let mut common = Kind::Nothing;
    for (row, value) in values.iter().enumerate() {
        let found = kind(name, row, value)?;
        common = match (common, found) {
            (one, other) if one == other || other == Kind::Nothing => one,
            (Kind::Nothing, other) => other,
            (Kind::Int | Kind::Float, Kind::Int | Kind::Float) => Kind::Float,
            (one, other) => {
                let text = format!("column {name}, row {row}: {other:?} after {one:?}; a column has one type");
                return Err(DataError::new_err(text.to_lowercase()));
            }
        };
    }
    let fits = |error: PyErr| DataError::new_err(format!("column {name}: a value does not fit ({error})"));
    Ok(match common {
        Kind::Nothing => Arc::new(NullArray::new(values.len())),
        Kind::Bool => Arc::new(optional(values)?.into_iter().collect::<BooleanArray>()),
        Kind::Int => Arc::new(optional::<i64>(values).map_err(fits)?.into_iter().collect::<Int64Array>()),
        Kind::Float => Arc::new(optional::<f64>(values).map_err(fits)?.into_iter().collect::<Float64Array>()),
        Kind::Text => Arc::new(optional::<String>(values)?.into_iter().collect::<StringArray>()),
        Kind::List => {
            let mut lengths = Vec::with_capacity(values.len());
            let mut items = Vec::new();
            for value in values {
                let before = items.len();
                if !value.is_none() {
                    items.extend(value.try_iter()?.collect::<PyResult<Vec<_>>>()?);
                }
                lengths.push(items.len() - before);
            }
            let items = list(name, &items)?;
            let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
            let nulls = NullBuffer::from_iter(values.iter().map(|value| !value.is_none()));
            let lists = ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), items, Some(nulls));
            Arc::new(lists.map_err(stream::data_error)?)
        }
    })
}

fn optional<'py, T: FromPyObjectOwned<'py>>(values: &[Bound<'py, PyAny>]) -> PyResult<Vec<Option<T>>> {
    values
        .iter()
        .map(|value| if value.is_none() { Ok(None) } else { value.extract::<T>().map(Some).map_err(Into::into) })
        .collect()
}
