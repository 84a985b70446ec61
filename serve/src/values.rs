//! Rows in the formats of the protocol: text and binary.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Date32Type, Decimal256Type, Field, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, SchemaRef, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType,
};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bonnet_catalogs::json_texts;
use bytes::{BufMut, BytesMut};
use pgwire::messages::data::FieldDescription;

use super::types::{self, Oid};

/// The kind byte of a row's message.
const DATA_ROW: u8 = b'D';

/// Days and microseconds from 1970-01-01 to PostgreSQL's 2000-01-01.
pub(super) const EPOCH_DAYS: i32 = 10_957;
pub(super) const EPOCH_MICROSECONDS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;

/// A column of an answer.
#[derive(Debug, Clone)]
pub(super) struct Column {
    name: String,
    oid: Oid,
    binary: bool,
    modifier: i32,
}

/// The columns of an answer. `formats` are those that the client asked for: none for text, one for all columns, or one a
/// column, 1 for binary.
///
/// # Errors
/// If there are formats for another number of columns.
pub(super) fn columns(schema: &SchemaRef, formats: &[i16]) -> Result<Vec<Column>, String> {
    let count = schema.fields().len();
    if formats.len() > 1 && formats.len() != count {
        return Err(format!("{} formats are given for {count} columns", formats.len()));
    }
    let column = |(i, field): (usize, &Arc<Field>)| Column {
        name: field.name().clone(),
        oid: types::of_column(field.data_type()),
        binary: formats.get(if formats.len() == 1 { 0 } else { i }) == Some(&1),
        modifier: modifier(field.data_type()),
    };
    Ok(schema.fields().iter().enumerate().map(column).collect())
}

impl Column {
    /// The name of the column.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The column in the description of rows.
    pub(super) fn description(&self) -> FieldDescription {
        let size = types::of_oid(self.oid).map_or(-1, |known| known.size);
        FieldDescription::new(self.name.clone(), 0, 0, self.oid, size, self.modifier, i16::from(self.binary))
    }
}

/// Precision and scale of a decimal number as PostgreSQL packs them; -1 for none.
pub(super) fn modifier(data_type: &DataType) -> i32 {
    match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale)
            if *scale >= 0 =>
        {
            (i32::from(*precision) << 16 | i32::from(*scale)) + 4
        }
        _ => -1,
    }
}

/// A batch whose values can be written one by one.
pub(super) struct Rows {
    columns: Vec<(ArrayRef, bool)>,
    rows: usize,
    next: usize,
}

impl Rows {
    /// # Errors
    /// If a value has no place in PostgreSQL's type, such as a time beyond its range.
    pub(super) fn new(batch: &RecordBatch, columns: &[Column]) -> Result<Self, ArrowError> {
        let of = |(array, column): (&ArrayRef, &Column)| Ok((canonical(array)?, column.binary));
        let columns = batch.columns().iter().zip(columns).map(of).collect::<Result<_, ArrowError>>()?;
        Ok(Self { columns, rows: batch.num_rows(), next: 0 })
    }

    /// Whether rows are left.
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.rows
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// The writers of the columns' values.
    pub(super) fn cells(&self) -> Result<Vec<Cells<'_>>, ArrowError> {
        self.columns.iter().map(|(array, binary)| Cells::new(array, *binary)).collect()
    }

    /// Passes over at most so many rows; over how many.
    pub(super) fn skip(&mut self, most: usize) -> usize {
        let skipped = most.min(self.rows - self.next);
        self.next += skipped;
        skipped
    }

    /// Writes the rest in the formats of these columns.
    pub(super) fn format_as(&mut self, columns: &[Column]) {
        self.columns.iter_mut().zip(columns).for_each(|((_, binary), column)| *binary = column.binary);
    }

    /// Writes messages of rows until `out` has so many bytes, or so many rows are written; how many.
    pub(super) fn write(&mut self, out: &mut BytesMut, bytes: usize, most: usize) -> Result<usize, ArrowError> {
        // Not by `self.cells()`, which would borrow all of it.
        let cells = self.columns.iter().map(|(array, binary)| Cells::new(array, *binary));
        let cells = cells.collect::<Result<Vec<_>, ArrowError>>()?;
        let start = self.next;
        while self.next < self.rows && self.next - start < most && out.len() < bytes {
            out.put_u8(DATA_ROW);
            let length = out.len();
            out.put_i32(0);
            out.put_i16(cells.len() as i16);
            for cell in &cells {
                cell.write(self.next, out)?;
            }
            let size = i32::try_from(out.len() - length).map_err(|_| too_long())?;
            out[length..length + 4].copy_from_slice(&size.to_be_bytes());
            self.next += 1;
        }
        Ok(self.next - start)
    }
}

fn too_long() -> ArrowError {
    ArrowError::InvalidArgumentError("a row of more than 2 GB has no place in a message".to_owned())
}

/// The array in one of the few types that are written: what PostgreSQL's type of it can hold.
fn canonical(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    use DataType::{
        Binary, BinaryView, Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Duration, FixedSizeBinary,
        Float16, Float32, Int8, Int16, Int32, Int64, Interval, LargeBinary, LargeUtf8, Null, Time32, Time64, Timestamp,
        UInt8, UInt16, UInt32, UInt64, Utf8, Utf8View,
    };
    let wanted = match array.data_type() {
        Int8 | UInt8 => Int16,
        UInt16 => Int32,
        UInt32 => Int64,
        UInt64 => Decimal256(20, 0),
        Float16 => Float32,
        Decimal32(precision, scale) | Decimal64(precision, scale) | Decimal128(precision, scale) => {
            Decimal256(*precision, *scale)
        }
        Utf8 | LargeUtf8 | Null => Utf8View,
        FixedSizeBinary(_) => return canonical(&cast(array, &Binary)?),
        Binary | LargeBinary => BinaryView,
        Date64 => Date32,
        Time32(_) | Time64(_) => Time64(TimeUnit::Microsecond),
        Timestamp(_, None) => Timestamp(TimeUnit::Microsecond, None),
        Timestamp(_, Some(_)) => Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
        Interval(_) | Duration(_) => Interval(IntervalUnit::MonthDayNano),
        DataType::Dictionary(_, values) => return canonical(&cast(array, values)?),
        data_type if types::of_column(data_type) == types::JSON => {
            let field = Arc::new(Field::new("value", data_type.clone(), true));
            return canonical(&json_texts(&field, array)?);
        }
        DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => DataType::List(Arc::clone(field)),
        _ => return Ok(Arc::clone(array)),
    };
    cast(array, &wanted)
}

fn cast(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == wanted {
        return Ok(Arc::clone(array));
    }
    cast_with_options(array, wanted, &CastOptions { safe: false, ..CastOptions::default() })
}

/// The text formats of times.
fn text_options() -> FormatOptions<'static> {
    FormatOptions::new()
        .with_display_error(false)
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f+00"))
        .with_time_format(Some("%H:%M:%S%.f"))
}

/// The writer of an array's values in one format.
pub(super) enum Cells<'a> {
    /// Texts are the same in both formats.
    Text(&'a ArrayRef),
    Bool(&'a ArrayRef, bool),
    Bytes(&'a ArrayRef, bool),
    Float(&'a ArrayRef),
    Interval(&'a ArrayRef, bool),
    /// As Arrow shows them.
    Shown(ArrayFormatter<'a>, &'a ArrayRef),
    /// Numbers and times in binary.
    Fixed(&'a ArrayRef),
    Numeric(&'a ArrayRef),
    List(&'a ArrayRef, ArrayRef, bool),
}

impl<'a> Cells<'a> {
    fn new(array: &'a ArrayRef, binary: bool) -> Result<Self, ArrowError> {
        Ok(match array.data_type() {
            DataType::Utf8View => Self::Text(array),
            DataType::Boolean => Self::Bool(array, binary),
            DataType::BinaryView => Self::Bytes(array, binary),
            DataType::Interval(_) => Self::Interval(array, binary),
            DataType::List(_) => Self::List(array, canonical(array.as_list::<i32>().values())?, binary),
            DataType::Decimal256(..) if binary => Self::Numeric(array),
            DataType::Float32 | DataType::Float64 if !binary => Self::Float(array),
            _ if binary => Self::Fixed(array),
            _ => {
                let options = text_options();
                // The formatter keeps no borrow of the options.
                Self::Shown(ArrayFormatter::try_new(array.as_ref(), &options)?, array)
            }
        })
    }

    fn array(&self) -> &ArrayRef {
        match self {
            Self::Text(array)
            | Self::Bool(array, _)
            | Self::Bytes(array, _)
            | Self::Float(array)
            | Self::Interval(array, _)
            | Self::Shown(_, array)
            | Self::Fixed(array)
            | Self::Numeric(array)
            | Self::List(array, ..) => array,
        }
    }

    /// Whether a value is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// A value behind its length; -1 for NULL.
    pub(super) fn write(&self, row: usize, out: &mut BytesMut) -> Result<(), ArrowError> {
        let length = out.len();
        out.put_i32(-1);
        if self.array().is_null(row) {
            return Ok(());
        }
        self.write_value(row, out)?;
        let size = i32::try_from(out.len() - length - 4).map_err(|_| too_long())?;
        out[length..length + 4].copy_from_slice(&size.to_be_bytes());
        Ok(())
    }

    /// A value that is not NULL.
    pub(super) fn write_value(&self, row: usize, out: &mut BytesMut) -> Result<(), ArrowError> {
        match self {
            Self::Text(array) => out.put_slice(array.as_string_view().value(row).as_bytes()),
            Self::Bool(array, true) => out.put_u8(u8::from(array.as_boolean().value(row))),
            Self::Bool(array, false) => out.put_u8(if array.as_boolean().value(row) { b't' } else { b'f' }),
            Self::Bytes(array, true) => out.put_slice(array.as_binary_view().value(row)),
            Self::Bytes(array, false) => {
                out.put_slice(b"\\x");
                array.as_binary_view().value(row).iter().for_each(|byte| put(out, format_args!("{byte:02x}")));
            }
            Self::Float(array) => match array.data_type() {
                DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row), out),
                _ => float(array.as_primitive::<Float64Type>().value(row), out),
            },
            Self::Interval(array, binary) => {
                interval(array.as_primitive::<IntervalMonthDayNanoType>().value(row), *binary, out);
            }
            Self::Shown(formatter, _) => {
                // What cannot be shown, as a date out of range, is an error of the statement.
                let text = formatter.value(row).try_to_string()?;
                out.put_slice(text.as_bytes());
            }
            Self::Fixed(array) => fixed(array, row, out)?,
            Self::Numeric(array) => numeric(&array.as_primitive::<Decimal256Type>().value_as_string(row), out),
            Self::List(array, values, binary) => {
                let offsets = array.as_list::<i32>().value_offsets();
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                let cells = Cells::new(values, *binary)?;
                match binary {
                    true => binary_array(&cells, range, out)?,
                    false => text_array(&cells, range, out)?,
                }
            }
        }
        Ok(())
    }
}

fn put(out: &mut BytesMut, text: std::fmt::Arguments<'_>) {
    // Bytes in memory take any text.
    let _ = out.write_fmt(text);
}

/// A float as PostgreSQL writes it: the shortest text that reads back as the same number.
fn float<T: Into<f64> + Copy + std::fmt::Debug>(value: T, out: &mut BytesMut) {
    let wide: f64 = value.into();
    match wide {
        _ if wide.is_nan() => out.put_slice(b"NaN"),
        f64::INFINITY => out.put_slice(b"Infinity"),
        f64::NEG_INFINITY => out.put_slice(b"-Infinity"),
        _ => {
            let text = format!("{value:?}");
            out.put_slice(text.strip_suffix(".0").unwrap_or(&text).as_bytes());
        }
    }
}

fn interval(value: IntervalMonthDayNano, binary: bool, out: &mut BytesMut) {
    let microseconds = value.nanoseconds / 1000;
    if binary {
        out.put_i64(microseconds);
        out.put_i32(value.days);
        out.put_i32(value.months);
        return;
    }
    let start = out.len();
    let parts = [(value.months / 12, "year"), (value.months % 12, "mon"), (value.days, "day")];
    for (count, unit) in parts.into_iter().filter(|(count, _)| *count != 0) {
        let (space, plural) = (if out.len() > start { " " } else { "" }, if count == 1 { "" } else { "s" });
        put(out, format_args!("{space}{count} {unit}{plural}"));
    }
    if microseconds != 0 || out.len() == start {
        let (space, sign) = (if out.len() > start { " " } else { "" }, if microseconds < 0 { "-" } else { "" });
        let (seconds, fraction) = (microseconds.unsigned_abs() / 1_000_000, microseconds.unsigned_abs() % 1_000_000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        put(out, format_args!("{space}{sign}{hours:02}:{minutes:02}:{seconds:02}"));
        if fraction != 0 {
            let digits = format!("{fraction:06}");
            put(out, format_args!(".{}", digits.trim_end_matches('0')));
        }
    }
}

/// Numbers and times in binary.
fn fixed(array: &ArrayRef, row: usize, out: &mut BytesMut) -> Result<(), ArrowError> {
    let out_of_range = || ArrowError::CastError("a time lies beyond what PostgreSQL's types hold".to_owned());
    match array.data_type() {
        DataType::Int16 => out.put_i16(array.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => out.put_i32(array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => out.put_i64(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => out.put_f32(array.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => out.put_f64(array.as_primitive::<Float64Type>().value(row)),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row).checked_sub(EPOCH_DAYS);
            out.put_i32(days.ok_or_else(out_of_range)?);
        }
        DataType::Time64(_) => out.put_i64(array.as_primitive::<Time64MicrosecondType>().value(row)),
        DataType::Timestamp(..) => {
            let time = array.as_primitive::<TimestampMicrosecondType>().value(row).checked_sub(EPOCH_MICROSECONDS);
            out.put_i64(time.ok_or_else(out_of_range)?);
        }
        other => return Err(ArrowError::NotYetImplemented(format!("values of {other} in the binary format"))),
    }
    Ok(())
}

/// A decimal number in binary: its digits by groups of four, with the weight of the first group.
fn numeric(text: &str, out: &mut BytesMut) {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let mut padded = "0".repeat((4 - whole.len() % 4) % 4);
    padded.push_str(whole);
    let before = padded.len() / 4;
    padded.push_str(fraction);
    padded.push_str(&"0".repeat((4 - fraction.len() % 4) % 4));
    let group = |group: &[u8]| group.iter().fold(0, |value, digit| value * 10 + i16::from(digit - b'0'));
    let groups: Vec<i16> = padded.as_bytes().chunks(4).map(group).collect();
    let leading = groups.iter().take_while(|&&group| group == 0).count();
    let trailing = groups[leading..].iter().rev().take_while(|&&group| group == 0).count();
    let kept = &groups[leading..groups.len() - trailing];
    out.put_i16(kept.len() as i16);
    out.put_i16(if kept.is_empty() { 0 } else { before as i16 - leading as i16 - 1 });
    out.put_u16(if negative && !kept.is_empty() { 0x4000 } else { 0 });
    out.put_i16(fraction.len() as i16);
    kept.iter().for_each(|&group| out.put_i16(group));
}

fn binary_array(cells: &Cells<'_>, range: std::ops::Range<usize>, out: &mut BytesMut) -> Result<(), ArrowError> {
    let array = cells.array();
    out.put_i32(i32::from(!range.is_empty()));
    out.put_i32(i32::from(range.clone().any(|row| array.is_null(row))));
    out.put_u32(types::of_column(array.data_type()));
    if !range.is_empty() {
        out.put_i32(range.len() as i32);
        out.put_i32(1);
    }
    range.into_iter().try_for_each(|row| cells.write(row, out))
}

fn text_array(cells: &Cells<'_>, range: std::ops::Range<usize>, out: &mut BytesMut) -> Result<(), ArrowError> {
    let mut value = BytesMut::new();
    out.put_u8(b'{');
    for (i, row) in range.enumerate() {
        if i > 0 {
            out.put_u8(b',');
        }
        if cells.array().is_null(row) {
            out.put_slice(b"NULL");
            continue;
        }
        value.clear();
        cells.write_value(row, &mut value)?;
        let special = |byte: &u8| matches!(byte, b'{' | b'}' | b',' | b'"' | b'\\') || byte.is_ascii_whitespace();
        if !value.is_empty() && !value.iter().any(special) && !value.eq_ignore_ascii_case(b"null") {
            out.put_slice(&value);
            continue;
        }
        out.put_u8(b'"');
        for &byte in &value {
            if matches!(byte, b'"' | b'\\') {
                out.put_u8(b'\\');
            }
            out.put_u8(byte);
        }
        out.put_u8(b'"');
    }
    out.put_u8(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, IntervalMonthDayNanoArray,
        ListArray, StringArray, StructArray, TimestampNanosecondArray, UInt64Array,
    };
    use arrow::datatypes::Int32Type;

    use super::*;

    /// The values of one column, each in one format; `None` for NULL.
    fn written(array: ArrayRef, format: i16) -> Vec<Option<Vec<u8>>> {
        let batch = RecordBatch::try_from_iter([("x", array)]).unwrap();
        let columns = columns(&batch.schema(), &[format]).unwrap();
        let mut rows = Rows::new(&batch, &columns).unwrap();
        let mut out = BytesMut::new();
        assert_eq!(rows.write(&mut out, usize::MAX, usize::MAX).unwrap(), batch.num_rows());
        assert!(rows.is_empty());
        let mut values = Vec::new();
        let mut rest = out.as_ref();
        while let [b'D', a, b, c, d, 0, 1, body @ ..] = rest {
            let length = i32::from_be_bytes([*a, *b, *c, *d]) as usize - 6;
            let (size, value) = body[..length].split_at(4);
            values.push((size != [0xff; 4]).then(|| value.to_vec()));
            rest = &body[length..];
        }
        assert!(rest.is_empty());
        values
    }

    fn texts(array: ArrayRef) -> Vec<String> {
        let text = |value: Option<Vec<u8>>| value.map_or("NULL".to_owned(), |value| String::from_utf8(value).unwrap());
        written(array, 0).into_iter().map(text).collect()
    }

    #[test]
    fn values_are_written_as_postgresql_writes_them() {
        assert_eq!(texts(Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))), ["t", "f", "NULL"]);
        let floats = Float64Array::from(vec![1.0, -0.5, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(texts(Arc::new(floats)), ["1", "-0.5", "1e300", "NaN", "Infinity", "-Infinity"]);
        assert_eq!(texts(Arc::new(UInt64Array::from(vec![u64::MAX]))), ["18446744073709551615"]);
        assert_eq!(texts(Arc::new(BinaryArray::from(vec![&b"\x00\xffa"[..]]))), ["\\x00ff61"]);
        assert_eq!(texts(Arc::new(Date32Array::from(vec![0, EPOCH_DAYS]))), ["1970-01-01", "2000-01-01"]);
        let time = TimestampNanosecondArray::from(vec![1_500_000_000]);
        assert_eq!(texts(Arc::new(time.clone())), ["1970-01-01 00:00:01.500"]);
        assert_eq!(texts(Arc::new(time.with_timezone("+02:00"))), ["1970-01-01 00:00:01.500+00"]);
        let interval = |months, days, nanoseconds| IntervalMonthDayNano { months, days, nanoseconds };
        let intervals = IntervalMonthDayNanoArray::from(vec![
            interval(14, 3, 3_661_500_000_000),
            interval(0, 0, 0),
            interval(0, -1, -1_000_000_000),
        ]);
        assert_eq!(texts(Arc::new(intervals)), ["1 year 2 mons 3 days 01:01:01.5", "00:00:00", "-1 days -00:00:01"]);
        let decimals = Decimal128Array::from(vec![-12345, 0]).with_precision_and_scale(9, 2).unwrap();
        assert_eq!(texts(Arc::new(decimals)), ["-123.45", "0.00"]);
        let pair = StructArray::from(vec![(
            Arc::new(Field::new("a", DataType::Int64, true)),
            Arc::new(Int64Array::from(vec![7])) as ArrayRef,
        )]);
        assert_eq!(texts(Arc::new(pair)), ["{\"a\":7}"]);
    }

    #[test]
    fn lists_are_arrays_and_lists_of_lists_are_json() {
        let numbers =
            ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), Some(vec![]), None]);
        assert_eq!(texts(Arc::new(numbers.clone())), ["{1,NULL}", "{}", "NULL"]);
        let one = [0, 0, 0, 1];
        let expected = [&one[..], &one, &[0, 0, 0, 23], &[0, 0, 0, 2], &one, &[0, 0, 0, 4], &one, &[0xff; 4]].concat();
        assert_eq!(written(Arc::new(numbers.clone()), 1)[0].as_deref(), Some(expected.as_slice()));
        let words = StringArray::from(vec![Some("a b"), Some(""), Some("null"), Some("x\"\\,"), Some("plain"), None]);
        let field = Arc::new(Field::new("item", DataType::Utf8, true));
        let offsets = arrow::buffer::OffsetBuffer::from_lengths([6]);
        let words: ArrayRef = Arc::new(ListArray::new(field, offsets, Arc::new(words), None));
        assert_eq!(texts(words), [r#"{"a b","","null","x\"\\,",plain,NULL}"#]);
        let field = Arc::new(Field::new("item", numbers.data_type().clone(), true));
        let nested: ArrayRef =
            Arc::new(ListArray::new(field, arrow::buffer::OffsetBuffer::from_lengths([3]), Arc::new(numbers), None));
        assert_eq!(types::of_column(nested.data_type()), types::JSON);
        assert_eq!(texts(nested), ["[[1,null],[],null]"]);
    }

    #[test]
    fn binary_numbers_and_times_count_as_postgresql_does() {
        let value = |array: ArrayRef| written(array, 1).remove(0).unwrap();
        assert_eq!(value(Arc::new(Int64Array::from(vec![258]))), [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(value(Arc::new(Date32Array::from(vec![EPOCH_DAYS + 1]))), [0, 0, 0, 1]);
        let time = TimestampNanosecondArray::from(vec![EPOCH_MICROSECONDS * 1000 + 2000]);
        assert_eq!(value(Arc::new(time)), [0, 0, 0, 0, 0, 0, 0, 2]);
        let numeric = |text: &str| {
            let mut out = BytesMut::new();
            super::numeric(text, &mut out);
            out.chunks(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect::<Vec<_>>()
        };
        // Groups, weight, sign, scale, then the groups: numeric_send of PostgreSQL.
        assert_eq!(numeric("12345.678"), [3, 1, 0, 3, 1, 2345, 6780]);
        assert_eq!(numeric("-0.00012"), [2, -1, 0x4000, 5, 1, 2000]);
        assert_eq!(numeric("10000"), [1, 1, 0, 0, 1]);
        assert_eq!(numeric("0.00"), [0, 0, 0, 2]);
    }
}
