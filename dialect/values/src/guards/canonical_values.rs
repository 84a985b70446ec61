//! Canonical values: one representation for the zeros and NaN of either sign, and for intervals of equal length. Kernels
//! that hash values, or compare their bits, distinguish them otherwise.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/22835> <https://github.com/apache/datafusion/issues/8468>
//! Shows: `SELECT rank() OVER (ORDER BY x) FROM (VALUES ('0'::double), ('-0'::double)) AS t(x)` gives `1 / 1`
//! Shows: `SELECT count(DISTINCT x) FROM (VALUES ('NaN'::double), (-('NaN'::double))) AS t(x)` gives `1`
//! Shows: `SELECT count(*) FROM (SELECT DISTINCT x FROM (VALUES (INTERVAL '1 month'), (INTERVAL '30 days')) AS t(x))` gives `1`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarUDF};

use crate::same_type_function::{Kernel, SameType};
use crate::times::interval_length::{DAYS_OF_A_MONTH, NANOSECONDS_OF_A_DAY, length};

/// The value with positive zeros and NaN, or, of an interval, with the months of 30 days and days of 24 hours that it
/// contains.
pub fn canonical(value: Expr) -> Expr {
    Form::Canonical.function().call(vec![value])
}

/// The number, but NaN without its sign: `inf - inf` has one on x86, and kernels sort it below all numbers.
pub fn unsigned_nan(value: Expr) -> Expr {
    Form::UnsignedNan.function().call(vec![value])
}

/// The function behind [`unsigned_nan`].
pub fn unsigned_nan_function() -> Arc<ScalarUDF> {
    Arc::new(Form::UnsignedNan.function())
}

/// Whether an expression is a call of one of the two.
pub fn is_canonical(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.inner().is::<SameType<Form>>())
}

/// The two functions.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [Arc::new(Form::UnsignedNan.function()), Arc::new(Form::Canonical.function())]
}

/// The form in which values are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    /// One NaN.
    UnsignedNan,
    /// One NaN, one zero, and one interval of each length.
    Canonical,
}

impl Kernel for Form {
    fn name(&self) -> &str {
        match self {
            Self::UnsignedNan => "unsigned_nan",
            Self::Canonical => "canonical",
        }
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn evaluate(&self, arg: &ColumnarValue, rows: usize) -> Result<ColumnarValue> {
        let is_scalar = matches!(arg, ColumnarValue::Scalar(_));
        let canonical = *self == Self::Canonical;
        let values = arg.to_array(if is_scalar { 1 } else { rows })?;
        let values: ArrayRef = match values.data_type() {
            DataType::Float64 | DataType::Float32 if canonical => canonical_floats(&values),
            DataType::Float64 => replace_nan::<Float64Type>(&values, f64::is_nan, f64::NAN),
            DataType::Float32 => replace_nan::<Float32Type>(&values, f32::is_nan, f32::NAN),
            DataType::Interval(IntervalUnit::MonthDayNano) if canonical => {
                map::<IntervalMonthDayNanoType>(&values, normalize)
            }
            _ => values,
        };
        match is_scalar {
            true => ScalarValue::try_from_array(&values, 0).map(ColumnarValue::Scalar),
            false => Ok(ColumnarValue::Array(values)),
        }
    }
}

/// Floats with one zero and one NaN; other values stay.
pub(crate) fn canonical_floats(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        // The sum of two zeros is positive, unless both are negative.
        DataType::Float64 => map::<Float64Type>(values, |x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        DataType::Float32 => map::<Float32Type>(values, |x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        _ => Arc::clone(values),
    }
}

fn map<T: ArrowPrimitiveType>(values: &ArrayRef, of: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    let mapped: PrimitiveArray<T> = values.as_primitive::<T>().unary(of);
    Arc::new(mapped)
}

/// The numbers with one NaN. They are searched first, and copied only if there is any, which is rare.
fn replace_nan<T: ArrowPrimitiveType>(
    values: &ArrayRef,
    is_nan: impl Fn(T::Native) -> bool,
    nan: T::Native,
) -> ArrayRef {
    let found = values.as_primitive::<T>().values().iter().fold(false, |found, &value| found | is_nan(value));
    match found {
        true => map::<T>(values, |value| if is_nan(value) { nan } else { value }),
        false => Arc::clone(values),
    }
}

/// The interval of the same length with days of less than a month, nanoseconds of less than a day, and one sign. One whose
/// months would overflow stays as it is.
fn normalize(interval: IntervalMonthDayNano) -> IntervalMonthDayNano {
    let length = length(interval);
    let days = length / NANOSECONDS_OF_A_DAY;
    let Ok(months) = i32::try_from(days / DAYS_OF_A_MONTH) else { return interval };
    let nanoseconds = length % NANOSECONDS_OF_A_DAY;
    IntervalMonthDayNano::new(months, (days % DAYS_OF_A_MONTH) as i32, nanoseconds as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_one_length_are_written_alike() {
        const HOUR: i64 = 3_600_000_000_000;
        let interval = IntervalMonthDayNano::new;
        let alike = [
            (interval(1, 0, 0), interval(0, 30, 0)),
            (interval(0, 1, 0), interval(0, 0, 24 * HOUR)),
            (interval(0, -1, 12 * HOUR), interval(0, 0, -12 * HOUR)),
            (interval(1, -30, 0), interval(0, 0, 0)),
        ];
        for (left, right) in alike {
            assert_eq!(normalize(left), normalize(right), "{left:?} {right:?}");
            assert_eq!(length(normalize(left)), length(left));
        }
        assert!(normalize(interval(0, 0, -1)) < normalize(interval(0, 0, 0)));
    }
}
