//! Functions of DataFusion that build or read many megabytes in one call, inside the memory limit and until the statement ends.
//!
//! `repeat`, `lpad`, `range` and their like build a whole column in one call, and DataFusion gives a scalar function no
//! memory pool and no word of the statement's end. Each is wrapped: the size of the column is computed from the arguments
//! and reserved before the call, and much work is done in parts: some rows after the others, and within one row as
//! [`long_texts`] does.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/5415> <https://github.com/apache/datafusion/issues/12919>
//! Shows: no statement: memory, no answer: `SELECT length(repeat(x, 50000000)) FROM t` goes beyond `memory_limit = '10M'`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, Int64Type, IntervalMonthDayNanoType, TimeUnit};
use bonnet_graph::Monitor;
use bonnet_sql::{ExpressionHost, execution_error, stopped};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction as Call;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::ExprProperties;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl};

use crate::guards::short_constants::leave_long_constant;
use crate::strings::long_texts::{self, Argument};

/// Columns below this size are not worth a reservation.
const SMALL: usize = 1 << 20;

/// The most bytes of text, or items of lists, of a column: its offsets are 32 bits wide.
const MOST: usize = i32::MAX as usize;

/// The work that is done in one go: bytes, or comparisons of characters.
const PART: usize = 32 << 20;

/// The growth of the size of a function's value with its arguments, which each variant names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Growth {
    /// A text and a count.
    Repeat,
    /// A text, its new length in characters, and the fill.
    Pad,
    /// Start, stop and step.
    Series,
    /// A value and a count.
    RepeatValue,
    /// A list, its new length, and the fill.
    Resize,
    /// Texts one after another.
    Concat,
    /// A separator, then texts.
    Join,
    /// A text, a pattern, and its replacement.
    Replace,
    /// A text, of whose size the value is.
    Copy,
    /// Texts, of which the value is small.
    Read,
    /// Two texts, each character of which is compared with all of the other.
    Compare,
    /// Two lists, each item of which is compared with all of the other.
    CompareItems,
    /// Lists, of whose items the value is, and which are put into a table or an order first.
    Items,
}

/// The functions that are wrapped, by their names in DataFusion.
const FUNCTIONS: [(&str, Growth); 32] = [
    ("repeat", Growth::Repeat),
    ("lpad", Growth::Pad),
    ("rpad", Growth::Pad),
    ("range", Growth::Series),
    ("generate_series", Growth::Series),
    ("array_repeat", Growth::RepeatValue),
    ("array_resize", Growth::Resize),
    ("concat", Growth::Concat),
    ("concat_ws", Growth::Join),
    ("replace", Growth::Replace),
    ("reverse", Growth::Copy),
    ("upper", Growth::Copy),
    ("lower", Growth::Copy),
    ("initcap", Growth::Copy),
    ("translate", Growth::Copy),
    ("regexp_replace", Growth::Copy),
    ("character_length", Growth::Read),
    ("md5", Growth::Read),
    ("sha224", Growth::Read),
    ("sha256", Growth::Read),
    ("sha384", Growth::Read),
    ("sha512", Growth::Read),
    ("regexp_count", Growth::Read),
    ("levenshtein", Growth::Compare),
    ("array_has_all", Growth::CompareItems),
    ("array_has_any", Growth::CompareItems),
    ("array_distinct", Growth::Items),
    ("array_union", Growth::Items),
    ("array_intersect", Growth::Items),
    ("array_except", Growth::Items),
    ("array_sort", Growth::Items),
    ("array_concat", Growth::Items),
];

/// The bytes that an item takes in a table of rows: its hash, its place, and the row's own length.
const ITEM: usize = 40;

/// The size of the column that a call builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Size {
    bytes: usize,
    /// The units that the column's offsets count: bytes of text, or items of lists.
    units: usize,
}

impl Size {
    fn text(bytes: usize) -> Self {
        Self { bytes, units: bytes }
    }

    fn items(units: usize, width: usize) -> Self {
        Self { bytes: units.saturating_mul(width), units }
    }
}

/// Wraps those of `functions` that build or read many megabytes in one call, and leaves out the others.
pub fn bounded_functions(functions: &[Arc<ScalarUDF>]) -> Vec<Arc<ScalarUDF>> {
    let wrap = |inner: &Arc<ScalarUDF>| {
        let (_, growth) = *FUNCTIONS.iter().find(|(name, _)| *name == inner.name())?;
        Some(Arc::new(ScalarUDF::from(Bounded { inner: Arc::clone(inner), growth })))
    };
    functions.iter().filter_map(wrap).collect()
}

/// A function that reserves memory for its value before it builds it, and looks at the statement meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Bounded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
}

impl ScalarUDFImpl for Bounded {
    bonnet_sql::as_inner_function!();

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = rows_of(&args);
        if matches!(self.growth, Growth::Copy | Growth::Read) && bound(&args.args, rows) < SMALL {
            return self.inner.invoke_with_args(args);
        }
        let host = ExpressionHost::new(self.name());
        host.check().map_err(stopped)?;
        let size = self.growth.size(&args.args, rows)?;
        check_units(self.name(), size, args.return_field.data_type(), rows)?;
        if size.bytes >= SMALL {
            leave_long_constant(self.name(), size.bytes)?;
            // The column, and what it is built from.
            host.reserve(size.bytes.saturating_mul(2)).map_err(stopped)?;
        }
        self.in_parts(args, &host)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        // A simpler call of the same function is to reserve memory too.
        Ok(match self.inner.inner().simplify(args, info)? {
            ExprSimplifyResult::Simplified(Expr::ScalarFunction(call)) if call.func.name() == self.name() => {
                let func = Arc::new(ScalarUDF::from(self.clone()));
                ExprSimplifyResult::Simplified(Expr::ScalarFunction(Call { func, ..call }))
            }
            other => other,
        })
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().strictly_order_preserving(inputs)
    }
}

impl Bounded {
    fn in_parts(&self, args: ScalarFunctionArgs, host: &ExpressionHost<'_>) -> Result<ColumnarValue> {
        let rows = rows_of(&args);
        let work = self.growth.work(&args.args, rows)?;
        if work <= PART {
            return self.inner.invoke_with_args(args);
        }
        if rows > 1 {
            return by_parts(&args.args, rows, work, |values, rows| {
                host.check().map_err(stopped)?;
                let (arg_fields, return_field) = (args.arg_fields.clone(), Arc::clone(&args.return_field));
                let config_options = Arc::clone(&args.config_options);
                let part =
                    ScalarFunctionArgs { args: values, arg_fields, number_rows: rows, return_field, config_options };
                self.in_parts(part, host)
            });
        }
        if self.growth == Growth::CompareItems {
            return self.by_items(&args, work, host);
        }
        let values: Option<Vec<Argument<'_>>> = args.args.iter().map(only_argument).collect();
        let value = match values {
            Some(values) => long_texts::evaluate(self.name(), &values, args.return_field.data_type(), host),
            None => Ok(None),
        };
        match value.map_err(stopped)? {
            Some(value) => Ok(ColumnarValue::Scalar(value)),
            None => self.inner.invoke_with_args(args),
        }
    }
}

impl Bounded {
    /// Whether a list has all or any of the items of another, of which some are looked for after the others.
    fn by_items(&self, args: &ScalarFunctionArgs, work: usize, host: &ExpressionHost<'_>) -> Result<ColumnarValue> {
        let looked_for = args.args[1].to_array(1)?;
        let Some(lists) = looked_for.as_list_opt::<i32>() else { return self.inner.invoke_with_args(args.clone()) };
        let (items, all) = (lists.value(0), self.name() == "array_has_all");
        let step = (items.len() / (work / PART + 1)).max(1);
        for start in (0..items.len()).step_by(step) {
            host.check().map_err(stopped)?;
            let length = step.min(items.len() - start);
            let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
            let part = ListArray::new(field, OffsetBuffer::from_lengths([length]), items.slice(start, length), None);
            let mut part_args = args.clone();
            part_args.args[1] = ColumnarValue::Scalar(ScalarValue::List(Arc::new(part)));
            let answer = self.inner.invoke_with_args(part_args)?.into_array(1)?;
            if answer.is_null(0) || answer.as_boolean().value(0) != all {
                return Ok(ColumnarValue::Array(answer));
            }
        }
        Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(all))))
    }
}

fn rows_of(args: &ScalarFunctionArgs) -> usize {
    let scalars = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
    if scalars { 1 } else { args.number_rows }
}

/// The values of a call for some rows after the others, so many that each part has about as much work as is done in one go.
fn by_parts(
    args: &[ColumnarValue],
    rows: usize,
    work: usize,
    call: impl Fn(Vec<ColumnarValue>, usize) -> Result<ColumnarValue>,
) -> Result<ColumnarValue> {
    let step = rows.div_ceil((work / PART + 1).min(rows));
    let columns = (0..rows).step_by(step).map(|start| {
        let length = step.min(rows - start);
        let part = args.iter().map(|value| match value {
            ColumnarValue::Array(column) => ColumnarValue::Array(column.slice(start, length)),
            constant => constant.clone(),
        });
        call(part.collect(), length)?.into_array(length)
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let columns: Vec<&dyn Array> = columns.iter().map(AsRef::as_ref).collect();
    Ok(ColumnarValue::Array(concat(&columns)?))
}

/// The argument of a call for one row; `None` if it is neither a text nor a number.
fn only_argument(value: &ColumnarValue) -> Option<Argument<'_>> {
    let text = match value {
        ColumnarValue::Scalar(value) if value.is_null() => return Some(Argument::Null),
        ColumnarValue::Array(column) if column.is_null(0) => return Some(Argument::Null),
        ColumnarValue::Scalar(ScalarValue::Int64(Some(number))) => return Some(Argument::Number(*number)),
        ColumnarValue::Scalar(value) => value.try_as_str().flatten()?,
        ColumnarValue::Array(column) => match column.data_type() {
            DataType::Utf8 => column.as_string::<i32>().value(0),
            DataType::LargeUtf8 => column.as_string::<i64>().value(0),
            DataType::Utf8View => column.as_string_view().value(0),
            DataType::Int64 => return Some(Argument::Number(column.as_primitive::<Int64Type>().value(0))),
            _ => return None,
        },
    };
    Some(Argument::Text(text))
}

/// Fails where a column would have more units than its offsets can count.
fn check_units(function: &str, size: Size, data_type: &DataType, rows: usize) -> Result<()> {
    if size.units <= MOST || !matches!(data_type, DataType::Utf8 | DataType::List(_)) {
        return Ok(());
    }
    let what = if *data_type == DataType::Utf8 { "bytes of text" } else { "items" };
    Err(execution_error(format!(
        "{function}: {} {what} for {rows} rows, where {MOST} is the most that rows computed together may have. Make the \
         values shorter, or SET datafusion.execution.batch_size to fewer rows",
        size.units,
    )))
}

/// Joins texts of one type one after another inside the memory limit and until the statement ends; for operators that are no
/// function of DataFusion's. Constants are joined here, columns by `join`, some rows after the others.
///
/// # Errors
/// If the statement has ended, memory runs out, or the column would be too long; and those of `join`.
pub fn join_texts(
    function: &str,
    texts: &[ColumnarValue],
    rows: usize,
    join: impl Fn(&[ColumnarValue]) -> Result<ColumnarValue>,
) -> Result<ColumnarValue> {
    let bytes = texts.iter().fold(0, |sum: usize, text| sum.saturating_add(total(text, rows)));
    if bytes < SMALL {
        return join(texts);
    }
    let host = ExpressionHost::new(function);
    leave_long_constant(function, bytes)?;
    host.check().map_err(stopped)?;
    let to = texts[0].data_type();
    check_units(function, Size::text(bytes), &to, rows)?;
    host.reserve(bytes.saturating_mul(2)).map_err(stopped)?;
    let values: Option<Vec<Argument<'_>>> = if rows == 1 { texts.iter().map(only_argument).collect() } else { None };
    if let Some(values) = values.filter(|values| !values.contains(&Argument::Null))
        && let Some(value) = long_texts::evaluate("concat", &values, &to, &host).map_err(stopped)?
    {
        return Ok(ColumnarValue::Scalar(value));
    }
    match bytes > PART && rows > 1 {
        true => by_parts(texts, rows, bytes, |texts, _| {
            host.check().map_err(stopped)?;
            join(&texts)
        }),
        false => join(texts),
    }
}

impl Growth {
    /// An upper bound on the size of the column that a call builds.
    fn size(self, args: &[ColumnarValue], rows: usize) -> Result<Size> {
        Ok(match (self, args) {
            (Self::Repeat, [text, count]) => {
                let (text, count) = (Texts::new(text), Numbers::new(count)?);
                Size::text(sum(rows, |row| text.len(row).saturating_mul(count.natural(row))))
            }
            (Self::Pad, [text, length, fill @ ..]) => {
                let width = fill.first().map_or(1, widest).max(widest(text));
                let length = Numbers::new(length)?;
                Size::text(sum(rows, |row| length.natural(row).saturating_mul(width)))
            }
            (Self::Series, args) => Size::items(series(args, rows)?, size_of::<i64>()),
            (Self::RepeatValue, [value, count]) => {
                let count = Numbers::new(count)?;
                Size::items(sum(rows, |row| count.natural(row)), width(value, false) + size_of::<u64>())
            }
            (Self::Resize, [list, length, fill @ ..]) => {
                let length = Numbers::new(length)?;
                let width = width(list, true).max(fill.first().map_or(0, |fill| width(fill, false)));
                Size::items(sum(rows, |row| length.natural(row)), width)
            }
            (Self::Concat, texts) => {
                Size::text(texts.iter().fold(0, |sum, text| sum.saturating_add(total(text, rows))))
            }
            (Self::Join, [separator, texts @ ..]) => {
                let separators = total(separator, rows).saturating_mul(texts.len());
                Size::text(texts.iter().fold(separators, |sum, text| sum.saturating_add(total(text, rows))))
            }
            (Self::Replace, [text, from, to]) => {
                let (texts, from, to) = (Texts::new(text), Texts::new(from), Texts::new(to));
                Size::text(sum(rows, |row| {
                    let (length, from, to) = (texts.len(row), from.len(row), to.len(row));
                    if to <= from { length } else { (length + 1).saturating_mul(to).div_ceil(from.max(1)) + length }
                }))
            }
            (Self::Copy, [text, ..]) => Size { bytes: total(text, rows), units: 0 },
            (Self::Items, lists) => {
                let mut size = Size::default();
                for list in lists {
                    let counts = item_counts(list, rows)?;
                    let repeated = if counts.len() < rows { rows } else { 1 };
                    let items = counts.into_iter().fold(0, usize::saturating_add).saturating_mul(repeated);
                    // Of few items the width is not looked at.
                    let width = if items < SMALL / ITEM { 0 } else { width(list, true) };
                    size.units = size.units.saturating_add(items);
                    size.bytes = size.bytes.saturating_add(items.saturating_mul(width + ITEM));
                }
                size
            }
            _ => Size::default(),
        })
    }

    /// The bytes that a call reads and writes, or the characters that it compares.
    fn work(self, args: &[ColumnarValue], rows: usize) -> Result<usize> {
        if let (Self::Compare, [left, right]) = (self, args) {
            let (left, right) = (Texts::new(left), Texts::new(right));
            return Ok(sum(rows, |row| left.len(row).saturating_mul(right.len(row))));
        }
        if let (Self::CompareItems, [left, right]) = (self, args) {
            let (left, right) = (item_counts(left, rows)?, item_counts(right, rows)?);
            return Ok(sum(rows, |row| left[row % left.len()].saturating_mul(right[row % right.len()])));
        }
        let read = args.iter().fold(0, |sum: usize, value| sum.saturating_add(total(value, rows)));
        Ok(match self {
            // Lists are not computed in parts.
            Self::Series | Self::RepeatValue | Self::Resize | Self::CompareItems | Self::Items => 0,
            _ => self.size(args, rows)?.bytes.max(read),
        })
    }
}

fn sum(rows: usize, value: impl Fn(usize) -> usize) -> usize {
    (0..rows).map(value).fold(0, usize::saturating_add)
}

/// The items of a series of numbers, or of points in time.
fn series(args: &[ColumnarValue], rows: usize) -> Result<usize> {
    let (start, stop, step) = match args {
        [stop] => (None, stop, None),
        [start, stop] => (Some(start), stop, None),
        [start, stop, step] => (Some(start), stop, Some(step)),
        _ => return Ok(0),
    };
    if args.iter().any(|arg| arg.data_type().is_null()) {
        return Ok(0);
    }
    let start = start.map(Numbers::new).transpose()?;
    let (stop, step) = (Numbers::new(stop)?, step.map(Numbers::new).transpose()?);
    Ok(sum(rows, |row| {
        let of = |numbers: &Option<Numbers>, default| numbers.as_ref().map_or(Some(default), |it| it.get(row));
        match (of(&start, 0), stop.get(row), of(&step, 1)) {
            (Some(start), Some(stop), Some(step)) if step != 0 && (stop > start) == (step > 0) => {
                ((stop.abs_diff(start) / step.unsigned_abs()) as usize).saturating_add(1)
            }
            _ => 1,
        }
    }))
}

/// The lengths of texts, row by row.
enum Texts<'a> {
    Constant(usize),
    Column(&'a dyn Array),
}

impl<'a> Texts<'a> {
    fn new(value: &'a ColumnarValue) -> Self {
        match value {
            ColumnarValue::Scalar(value) => Self::Constant(scalar_len(value)),
            ColumnarValue::Array(column) => Self::Column(column.as_ref()),
        }
    }

    /// Bytes of the text in this row; 0 for NULL.
    fn len(&self, row: usize) -> usize {
        match self {
            Self::Constant(len) => *len,
            Self::Column(column) if column.is_null(row) => 0,
            Self::Column(column) => match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().value_length(row) as usize,
                DataType::LargeUtf8 => column.as_string::<i64>().value_length(row) as usize,
                DataType::Utf8View => column.as_string_view().value(row).len(),
                _ => 0,
            },
        }
    }
}

/// The numbers of items of lists, row by row; one for a constant, and none of what is no list.
fn item_counts(value: &ColumnarValue, rows: usize) -> Result<Vec<usize>> {
    let lists = value.to_array(if matches!(value, ColumnarValue::Scalar(_)) { 1 } else { rows })?;
    Ok(match lists.data_type() {
        DataType::List(_) => lists.as_list::<i32>().offsets().lengths().collect(),
        DataType::LargeList(_) => lists.as_list::<i64>().offsets().lengths().collect(),
        _ => vec![0],
    })
}

fn scalar_len(value: &ScalarValue) -> usize {
    match value {
        ScalarValue::Binary(Some(bytes)) | ScalarValue::LargeBinary(Some(bytes)) => bytes.len(),
        value => value.try_as_str().flatten().map_or(0, str::len),
    }
}

/// An upper bound on the bytes of texts, which is there without a look at each.
fn bound(values: &[ColumnarValue], rows: usize) -> usize {
    let most = |value: &ColumnarValue| match value {
        ColumnarValue::Array(column) if column.data_type() == &DataType::Utf8View => {
            let buffers = column.as_string_view().data_buffers().iter().map(|buffer| buffer.len());
            buffers.fold(rows * size_of::<u128>(), usize::saturating_add)
        }
        value => total(value, rows),
    };
    values.iter().map(most).fold(0, usize::saturating_add)
}

/// The bytes of a column of texts.
fn total(value: &ColumnarValue, rows: usize) -> usize {
    match value {
        ColumnarValue::Array(column) if column.data_type() == &DataType::Utf8 => {
            let offsets = column.as_string::<i32>().value_offsets();
            (offsets[offsets.len() - 1] - offsets[0]) as usize
        }
        // The length of a text is the lowest quarter of its view.
        ColumnarValue::Array(column) if column.data_type() == &DataType::Utf8View => {
            column.as_string_view().views().iter().map(|view| *view as u32 as usize).sum()
        }
        value => {
            let texts = Texts::new(value);
            match texts {
                Texts::Constant(len) => len.saturating_mul(rows),
                Texts::Column(_) => sum(rows, |row| texts.len(row)),
            }
        }
    }
}

/// The bytes of the widest character of a text.
fn widest(value: &ColumnarValue) -> usize {
    match value {
        ColumnarValue::Scalar(value) => {
            value.try_as_str().flatten().map_or(1, |text| text.chars().map(char::len_utf8).max().unwrap_or(1))
        }
        ColumnarValue::Array(_) => char::MAX.len_utf8(),
    }
}

/// The bytes of one value of a column, or of one item of its lists, on average.
fn width(value: &ColumnarValue, items: bool) -> usize {
    let column: ArrayRef = match value {
        ColumnarValue::Array(column) => Arc::clone(column),
        ColumnarValue::Scalar(value) => match value.to_array() {
            Ok(column) => column,
            Err(_) => return 0,
        },
    };
    let column = match column.data_type() {
        DataType::List(_) if items => Arc::clone(column.as_list::<i32>().values()),
        DataType::LargeList(_) if items => Arc::clone(column.as_list::<i64>().values()),
        _ => column,
    };
    let bytes = column.to_data().get_slice_memory_size().unwrap_or_default();
    bytes.div_ceil(column.len().max(1))
}

/// Whole numbers, or points in time and their steps in nanoseconds, row by row.
enum Numbers {
    Constant(Option<i64>),
    Column(Int64Array),
}

impl Numbers {
    fn new(value: &ColumnarValue) -> Result<Self> {
        let column = match value {
            ColumnarValue::Scalar(ScalarValue::Int64(value)) => return Ok(Self::Constant(*value)),
            ColumnarValue::Scalar(value) => value.to_array()?,
            ColumnarValue::Array(column) => Arc::clone(column),
        };
        let numbers = match column.data_type() {
            DataType::Interval(_) => {
                const DAY: i64 = 24 * 3600 * 1_000_000_000;
                let column = cast(&column, &DataType::Interval(arrow::datatypes::IntervalUnit::MonthDayNano))?;
                let step = |step| {
                    let (months, days, nanoseconds) = IntervalMonthDayNanoType::to_parts(step);
                    let days = i64::from(months) * 28 + i64::from(days);
                    days.saturating_mul(DAY).saturating_add(nanoseconds)
                };
                column.as_primitive::<IntervalMonthDayNanoType>().unary::<_, Int64Type>(step)
            }
            DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
                let column = cast(&column, &DataType::Timestamp(TimeUnit::Nanosecond, None))?;
                cast(&column, &DataType::Int64)?.as_primitive::<Int64Type>().clone()
            }
            _ => cast(&column, &DataType::Int64)?.as_primitive::<Int64Type>().clone(),
        };
        Ok(match value {
            ColumnarValue::Scalar(_) => Self::Constant(numbers.iter().next().flatten()),
            ColumnarValue::Array(_) => Self::Column(numbers),
        })
    }

    fn get(&self, row: usize) -> Option<i64> {
        match self {
            Self::Constant(value) => *value,
            Self::Column(column) => column.is_valid(row).then(|| column.value(row)),
        }
    }

    /// The number in this row; 0 where it is negative or NULL.
    fn natural(&self, row: usize) -> usize {
        self.get(row).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
