//! Functions of DataFusion whose values may be far larger than their arguments, inside the memory limit.
//!
//! `repeat`, `lpad`, `range` and their like build a whole column in one call, and DataFusion gives a scalar function no
//! memory pool. Each is wrapped: the size of the column is computed from the arguments and reserved before the call.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Int64Type, IntervalMonthDayNanoType, TimeUnit};
use bonnet_graph::Monitor;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction as Call;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature,
};

use crate::running_statement::ExpressionHost;
use crate::{execution_error, stopped};

/// Columns below this size are not worth a reservation.
const SMALL: usize = 1 << 20;

/// The most bytes of text, or items of lists, of a column: its offsets are 32 bits wide.
const MOST: usize = i32::MAX as usize;

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
}

/// The functions that are wrapped, by their names in DataFusion.
const FUNCTIONS: [(&str, Growth); 10] = [
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
];

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

/// Wraps those of `functions` whose values may be far larger than their arguments, and leaves out the others.
pub fn bounded_functions(functions: &[Arc<ScalarUDF>]) -> Vec<Arc<ScalarUDF>> {
    let wrap = |inner: &Arc<ScalarUDF>| {
        let (_, growth) = *FUNCTIONS.iter().find(|(name, _)| *name == inner.name())?;
        Some(Arc::new(ScalarUDF::from(Bounded { inner: Arc::clone(inner), growth })))
    };
    functions.iter().filter_map(wrap).collect()
}

/// A function that reserves memory for its value before it builds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Bounded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.inner().return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.inner().return_field_from_args(args)
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let host = ExpressionHost::new(self.name());
        host.check().map_err(stopped)?;
        let scalars = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if scalars { 1 } else { args.number_rows };
        let size = self.growth.size(&args.args, rows)?;
        check_units(self.name(), size, args.return_field.data_type(), rows)?;
        if size.bytes >= SMALL {
            // The column, and what it is built from.
            host.reserve(size.bytes.saturating_mul(2)).map_err(stopped)?;
        }
        self.inner.invoke_with_args(args)
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

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.inner().output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.inner().coerce_types(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.inner().documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.inner().placement(args)
    }
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

/// Builds texts of one type one after another inside the memory limit; for operators that are no function of DataFusion's.
///
/// # Errors
/// If the statement has ended, memory runs out, or the column would be too long; and those of `build`.
pub fn build_texts<T>(
    function: &str,
    texts: &[&ColumnarValue],
    rows: usize,
    build: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let bytes = texts.iter().fold(0, |sum: usize, text| sum.saturating_add(total(text, rows)));
    if bytes < SMALL {
        return build();
    }
    let host = ExpressionHost::new(function);
    host.check().map_err(stopped)?;
    check_units(function, Size::text(bytes), &texts[0].data_type(), rows)?;
    host.reserve(bytes.saturating_mul(2)).map_err(stopped)?;
    build()
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
            _ => Size::default(),
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

fn scalar_len(value: &ScalarValue) -> usize {
    match value {
        ScalarValue::Binary(Some(bytes)) | ScalarValue::LargeBinary(Some(bytes)) => bytes.len(),
        value => value.try_as_str().flatten().map_or(0, str::len),
    }
}

/// The bytes of a column of texts.
fn total(value: &ColumnarValue, rows: usize) -> usize {
    match value {
        ColumnarValue::Array(column) if column.data_type() == &DataType::Utf8 => {
            let offsets = column.as_string::<i32>().value_offsets();
            (offsets[offsets.len() - 1] - offsets[0]) as usize
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
mod tests {
    use arrow::array::StringArray;

    use super::*;

    fn text(text: &str) -> ColumnarValue {
        ColumnarValue::Scalar(ScalarValue::from(text))
    }

    fn number(number: i64) -> ColumnarValue {
        ColumnarValue::Scalar(ScalarValue::from(number))
    }

    fn bytes(growth: Growth, args: &[ColumnarValue], rows: usize) -> usize {
        growth.size(args, rows).unwrap().bytes
    }

    #[test]
    fn sizes_are_those_of_the_values() {
        let texts = ColumnarValue::Array(Arc::new(StringArray::from(vec![Some("ab"), None, Some("cde")])));
        let counts = ColumnarValue::Array(Arc::new(Int64Array::from(vec![Some(10), Some(5), Some(-1)])));
        assert_eq!(bytes(Growth::Repeat, &[texts.clone(), counts], 3), 20);
        assert_eq!(bytes(Growth::Repeat, &[text("xyz"), number(1 << 40)], 1), 3 << 40);
        assert_eq!(bytes(Growth::Repeat, &[text("xyz"), number(i64::MAX)], 1), usize::MAX);
        assert_eq!(bytes(Growth::Pad, &[text("a"), number(100)], 1), 100);
        assert_eq!(bytes(Growth::Pad, &[text("a"), number(100), text("é")], 1), 200);
        assert_eq!(bytes(Growth::Series, &[number(1), number(1000)], 1), 8000);
        assert_eq!(bytes(Growth::Series, &[number(1000), number(1), number(-3)], 1), 8 * 334);
        assert_eq!(bytes(Growth::Series, &[number(i64::MIN), number(i64::MAX)], 1), usize::MAX);
        assert_eq!(bytes(Growth::RepeatValue, &[number(7), number(50)], 1), 50 * 16);
        assert_eq!(bytes(Growth::Concat, &[texts.clone(), text("xyz")], 3), 5 + 9);
        assert_eq!(bytes(Growth::Join, &[text(", "), texts.clone(), texts.clone()], 3), 10 + 12);
        assert_eq!(bytes(Growth::Replace, &[texts, text("a"), text("b")], 3), 5);
        assert!(bytes(Growth::Replace, &[text("aaaa"), text("a"), text("bbb")], 1) >= 12);
    }
}
