//! Values that are written in several ways, in one: zeros and NaN of both signs, and intervals of one length. Kernels that
//! hash values, or compare bits, tell them apart otherwise.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, FieldRef, Float32Type, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::interval_length::{DAYS_OF_A_MONTH, NANOSECONDS_OF_A_DAY, length};

/// The value with positive zeros and NaN; an interval with as many months of 30 days and days of 24 hours as it has.
pub fn canonical(value: Expr) -> Expr {
    function(true).call(vec![value])
}

/// The number, NaN without its sign: `inf - inf` gives a negative one, which kernels have below all numbers.
pub fn unsigned_nan(value: Expr) -> Expr {
    function(false).call(vec![value])
}

/// The function behind [`unsigned_nan`].
pub fn unsigned_nan_function() -> Arc<ScalarUDF> {
    Arc::new(function(false))
}

/// Whether an expression is a call of one of the two.
pub fn is_canonical(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.inner().is::<Canonical>())
}

/// The two functions.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [Arc::new(function(false)), Arc::new(function(true))]
}

fn function(zeros: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(Canonical { zeros, signature: Signature::any(1, Volatility::Immutable) })
}

/// One way to write each value.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Canonical {
    /// Whether of zeros and intervals, too.
    zeros: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Canonical {
    fn name(&self) -> &str {
        if self.zeros { "canonical" } else { "unsigned_nan" }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(ToString::to_string).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::clone(&args.arg_fields[0]))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if is_scalar { 1 } else { args.number_rows })?;
        let values: ArrayRef = match values.data_type() {
            // Two zeros add up to a positive one, unless both are negative.
            DataType::Float64 if self.zeros => {
                map::<Float64Type>(&values, |x| if x.is_nan() { f64::NAN } else { x + 0.0 })
            }
            DataType::Float32 if self.zeros => {
                map::<Float32Type>(&values, |x| if x.is_nan() { f32::NAN } else { x + 0.0 })
            }
            DataType::Float64 => one_nan::<Float64Type>(&values, f64::is_nan, f64::NAN),
            DataType::Float32 => one_nan::<Float32Type>(&values, f32::is_nan, f32::NAN),
            DataType::Interval(IntervalUnit::MonthDayNano) if self.zeros => {
                map::<IntervalMonthDayNanoType>(&values, normalized)
            }
            _ => values,
        };
        match is_scalar {
            true => ScalarValue::try_from_array(&values, 0).map(ColumnarValue::Scalar),
            false => Ok(ColumnarValue::Array(values)),
        }
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        Interval::make_unbounded(&inputs[0].data_type())
    }
}

fn map<T: ArrowPrimitiveType>(values: &ArrayRef, of: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    let mapped: PrimitiveArray<T> = values.as_primitive::<T>().unary(of);
    Arc::new(mapped)
}

/// The numbers, with one NaN. There is seldom any, so that they are looked through before they are copied.
fn one_nan<T: ArrowPrimitiveType>(values: &ArrayRef, is_nan: impl Fn(T::Native) -> bool, nan: T::Native) -> ArrayRef {
    let found = values.as_primitive::<T>().values().iter().fold(false, |found, &value| found | is_nan(value));
    match found {
        true => map::<T>(values, |value| if is_nan(value) { nan } else { value }),
        false => Arc::clone(values),
    }
}

/// The interval of the same length whose days are fewer than a month, and whose nanoseconds fewer than a day, all of one sign.
/// One that has too many months stays.
fn normalized(interval: IntervalMonthDayNano) -> IntervalMonthDayNano {
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
            assert_eq!(normalized(left), normalized(right), "{left:?} {right:?}");
            assert_eq!(length(normalized(left)), length(left));
        }
        assert!(normalized(interval(0, 0, -1)) < normalized(interval(0, 0, 0)));
    }
}
