//! Values of columns as objects of Python.

use arrow::array::{
    Array, ArrayRef, AsArray, GenericListArray, OffsetSizeTrait, PrimitiveArray, TimestampMicrosecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, DurationMicrosecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::errors::NotSupportedError;
use super::stream::data_error;

type Objects = Vec<Py<PyAny>>;

/// The values of a column, `None` for NULL. Nanoseconds are cut off: Python's times have microseconds.
///
/// # Errors
/// If Python has no object for the type, or a time is out of its range.
pub(super) fn objects(py: Python<'_>, array: &ArrayRef) -> PyResult<Objects> {
    match array.data_type() {
        DataType::Null => Ok((0..array.len()).map(|_| py.None()).collect()),
        DataType::Boolean => each(py, array, |row| array.as_boolean().value(row).into_py_any(py)),
        DataType::Int8 => primitive::<Int8Type>(py, array),
        DataType::Int16 => primitive::<Int16Type>(py, array),
        DataType::Int32 => primitive::<Int32Type>(py, array),
        DataType::Int64 => primitive::<Int64Type>(py, array),
        DataType::UInt8 => primitive::<UInt8Type>(py, array),
        DataType::UInt16 => primitive::<UInt16Type>(py, array),
        DataType::UInt32 => primitive::<UInt32Type>(py, array),
        DataType::UInt64 => primitive::<UInt64Type>(py, array),
        DataType::Float16 => {
            let values: &PrimitiveArray<Float16Type> = array.as_primitive();
            each(py, array, |row| values.value(row).to_f64().into_py_any(py))
        }
        DataType::Float32 => primitive::<Float32Type>(py, array),
        DataType::Float64 => primitive::<Float64Type>(py, array),
        DataType::Utf8 => each(py, array, |row| array.as_string::<i32>().value(row).into_py_any(py)),
        DataType::LargeUtf8 => each(py, array, |row| array.as_string::<i64>().value(row).into_py_any(py)),
        DataType::Utf8View => each(py, array, |row| array.as_string_view().value(row).into_py_any(py)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            let array = cast(array, &DataType::LargeBinary).map_err(data_error)?;
            each(py, &array, |row| PyBytes::new(py, array.as_binary::<i64>().value(row)).into_py_any(py))
        }
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            let decimal = py.import("decimal")?.getattr("Decimal")?;
            let text = ArrayFormatter::try_new(array, &FormatOptions::default()).map_err(data_error)?;
            each(py, array, |row| decimal.call1((text.value(row).to_string(),))?.into_py_any(py))
        }
        DataType::Date32 | DataType::Date64 => {
            let array = cast(array, &DataType::Date32).map_err(data_error)?;
            let date = py.import("datetime")?.getattr("date")?;
            let days: &PrimitiveArray<Date32Type> = array.as_primitive();
            // The first of January of year 1 has the ordinal 1.
            each(py, &array, |row| {
                date.call_method1("fromordinal", (i64::from(days.value(row)) + 719_163,))?.into_py_any(py)
            })
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            let array = cast(array, &DataType::Time64(TimeUnit::Microsecond)).map_err(data_error)?;
            let time = py.import("datetime")?.getattr("time")?;
            let values: &PrimitiveArray<Time64MicrosecondType> = array.as_primitive();
            each(py, &array, |row| {
                let (micros, seconds) = (values.value(row) % 1_000_000, values.value(row) / 1_000_000);
                time.call1((seconds / 3600, seconds / 60 % 60, seconds % 60, micros))?.into_py_any(py)
            })
        }
        DataType::Timestamp(_, zone) => timestamps(py, array, zone.as_deref()),
        DataType::Duration(_) => {
            let array = cast(array, &DataType::Duration(TimeUnit::Microsecond)).map_err(data_error)?;
            let delta = py.import("datetime")?.getattr("timedelta")?;
            let values: &PrimitiveArray<DurationMicrosecondType> = array.as_primitive();
            each(py, &array, |row| delta.call1((0, 0, values.value(row)))?.into_py_any(py))
        }
        DataType::Interval(_) => intervals(py, array),
        DataType::List(_) => lists::<i32>(py, array.as_list()),
        DataType::LargeList(_) => lists::<i64>(py, array.as_list()),
        DataType::FixedSizeList(item, _) | DataType::ListView(item) | DataType::LargeListView(item) => {
            let array = cast(array, &DataType::LargeList(item.clone())).map_err(data_error)?;
            lists::<i64>(py, array.as_list())
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().map(|column| objects(py, column));
            let columns = columns.collect::<PyResult<Vec<_>>>()?;
            each(py, array, |row| {
                let object = PyDict::new(py);
                for (field, column) in fields.iter().zip(&columns) {
                    object.set_item(field.name(), &column[row])?;
                }
                object.into_py_any(py)
            })
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let (keys, values) = (objects(py, map.keys())?, objects(py, map.values())?);
            each(py, array, |row| {
                let object = PyDict::new(py);
                let offsets = map.value_offsets();
                for at in offsets[row] as usize..offsets[row + 1] as usize {
                    object.set_item(&keys[at], &values[at])?;
                }
                object.into_py_any(py)
            })
        }
        DataType::Dictionary(_, values) => objects(py, &cast(array, values).map_err(data_error)?),
        DataType::RunEndEncoded(_, values) => objects(py, &cast(array, values.data_type()).map_err(data_error)?),
        other => Err(NotSupportedError::new_err(format!("Python has no object for values of the type {other}"))),
    }
}

fn each(py: Python<'_>, array: &dyn Array, value: impl Fn(usize) -> PyResult<Py<PyAny>>) -> PyResult<Objects> {
    let values = (0..array.len()).map(|row| if array.is_null(row) { Ok(py.None()) } else { value(row) });
    values.collect()
}

fn primitive<T: ArrowPrimitiveType>(py: Python<'_>, array: &ArrayRef) -> PyResult<Objects>
where
    for<'py> T::Native: IntoPyObject<'py>,
{
    let values = array.as_primitive::<T>();
    each(py, array, |row| values.value(row).into_py_any(py))
}

fn lists<O: OffsetSizeTrait>(py: Python<'_>, lists: &GenericListArray<O>) -> PyResult<Objects> {
    // The rows' own items alone: a slice may lie in a far longer array.
    let offsets = lists.value_offsets();
    let first = offsets[0].as_usize();
    let items = lists.values().slice(first, offsets[offsets.len() - 1].as_usize() - first);
    let items = objects(py, &items)?;
    each(py, lists, |row| {
        let range = offsets[row].as_usize() - first..offsets[row + 1].as_usize() - first;
        PyList::new(py, items[range].iter())?.into_py_any(py)
    })
}

fn timestamps(py: Python<'_>, array: &ArrayRef, zone: Option<&str>) -> PyResult<Objects> {
    let kind = DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
    let array = cast(array, &kind).map_err(data_error)?;
    let values: &TimestampMicrosecondArray = array.as_primitive::<TimestampMicrosecondType>();
    let module = py.import("datetime")?;
    let delta = module.getattr("timedelta")?;
    let utc = module.getattr("timezone")?.getattr("utc")?;
    let datetime = module.getattr("datetime")?;
    let zone = match zone {
        None => None,
        Some("UTC" | "+00:00" | "Z") => Some(utc.clone()),
        Some(name) if name.starts_with(['+', '-']) => {
            let parsed = datetime.call_method1("strptime", (name, "%z"))?;
            Some(parsed.getattr("tzinfo")?)
        }
        Some(name) => Some(py.import("zoneinfo")?.getattr("ZoneInfo")?.call1((name,))?),
    };
    let epoch = match zone {
        None => datetime.call1((1970, 1, 1))?,
        Some(_) => datetime.call1((1970, 1, 1, 0, 0, 0, 0, utc))?,
    };
    each(py, &array, |row| {
        let time = epoch.add(delta.call1((0, 0, values.value(row)))?)?;
        match &zone {
            Some(zone) => time.call_method1("astimezone", (zone,))?.into_py_any(py),
            None => time.into_py_any(py),
        }
    })
}

/// An interval of days and shorter is a timedelta, one with months a dict: their days differ.
fn intervals(py: Python<'_>, array: &ArrayRef) -> PyResult<Objects> {
    let array = cast(array, &DataType::Interval(IntervalUnit::MonthDayNano)).map_err(data_error)?;
    let values: &PrimitiveArray<IntervalMonthDayNanoType> = array.as_primitive();
    let delta = py.import("datetime")?.getattr("timedelta")?;
    each(py, &array, |row| {
        let value = values.value(row);
        if value.months == 0 {
            return delta.call1((value.days, 0, value.nanoseconds / 1000))?.into_py_any(py);
        }
        let parts = PyDict::new(py);
        parts.set_item("months", value.months)?;
        parts.set_item("days", value.days)?;
        parts.set_item("nanoseconds", value.nanoseconds)?;
        parts.into_py_any(py)
    })
}
