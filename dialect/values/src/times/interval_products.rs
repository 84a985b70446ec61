//! `interval * number` and `interval / number`, as in DuckDB and PostgreSQL. DataFusion 55 has neither.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/13850> <https://github.com/apache/arrow-rs/issues/9030>
//! Shows: `SELECT INTERVAL '1 month' * 1.25 = INTERVAL '1 month 7 days 12 hours'` gives `true`
//! Shows: `SELECT INTERVAL '1 day' / 2 = INTERVAL '12 hours'` gives `true`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

const DAYS_OF_A_MONTH: f64 = 30.0;
const MICROSECONDS_OF_A_DAY: f64 = 86_400e6;

/// The functions: the product, and the quotient.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [false, true].map(|divides| Arc::new(function(divides)))
}

/// An interval times a number, or divided by it.
pub(crate) fn function(divides: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(Scaled { divides, signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Scaled {
    divides: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Scaled {
    fn name(&self) -> &str {
        if self.divides { "interval_quotient" } else { "interval_product" }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let sign = if self.divides { " / " } else { " * " };
        let names: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        Ok(names.join(sign))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Interval(IntervalUnit::MonthDayNano))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let spans = cast(&arrays[0], &DataType::Interval(IntervalUnit::MonthDayNano))?;
        let numbers = cast(&arrays[1], &DataType::Float64)?;
        let spans = spans.as_primitive::<IntervalMonthDayNanoType>();
        let numbers = numbers.as_primitive::<Float64Type>();
        let rows = spans.iter().zip(numbers.iter()).map(|row| match row {
            (Some(span), Some(number)) => self.scale(span, number).map(Some),
            _ => Ok(None),
        });
        let scaled: ArrayRef = Arc::new(rows.collect::<Result<IntervalMonthDayNanoArray>>()?);
        match args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_))) {
            true => ScalarValue::try_from_array(&scaled, 0).map(ColumnarValue::Scalar),
            false => Ok(ColumnarValue::Array(scaled)),
        }
    }
}

impl Scaled {
    /// Fractions of months become days of a month of 30, fractions of days a time of day, to the microsecond.
    fn scale(&self, span: IntervalMonthDayNano, number: f64) -> Result<IntervalMonthDayNano> {
        let by = |part: f64| if self.divides { part / number } else { part * number };
        if self.divides && number == 0.0 {
            return exec_err!("division of an INTERVAL by zero");
        }
        let whole = !self.divides && number.fract() == 0.0 && number.abs() < 2f64.powi(53);
        let scaled = if whole { times(span, number as i64) } else { None };
        if let Some(scaled) = scaled {
            return Ok(scaled);
        }
        let months = by(f64::from(span.months));
        let days = months.fract() * DAYS_OF_A_MONTH + by(f64::from(span.days));
        // A day that is full but for the last digit of a DOUBLE is full.
        let time = (days.fract() * MICROSECONDS_OF_A_DAY).round();
        let full = (time / MICROSECONDS_OF_A_DAY).trunc();
        let nanoseconds = ((time - full * MICROSECONDS_OF_A_DAY) + (by(span.nanoseconds as f64) / 1e3).round()) * 1e3;
        let days = days.trunc() + full;
        let most = f64::from(i32::MAX);
        if !(months.abs() <= most && days.abs() <= most && nanoseconds.abs() < i64::MAX as f64) {
            return exec_err!("an INTERVAL {} {number} leaves its range", if self.divides { "/" } else { "*" });
        }
        Ok(IntervalMonthDayNano::new(months.trunc() as i32, days as i32, nanoseconds as i64))
    }
}

/// The exact product; `None` beyond the range of intervals.
fn times(span: IntervalMonthDayNano, number: i64) -> Option<IntervalMonthDayNano> {
    let part = |part: i32| i32::try_from(i64::from(part).checked_mul(number)?).ok();
    Some(IntervalMonthDayNano::new(part(span.months)?, part(span.days)?, span.nanoseconds.checked_mul(number)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_months_are_days_and_those_of_days_a_time() {
        let span = IntervalMonthDayNano::new;
        let scaled = |divides, of, number| {
            Scaled { divides, signature: Signature::any(2, Volatility::Immutable) }.scale(of, number)
        };
        let hour = 3_600_000_000_000;
        for (divides, of, number, expected) in [
            (false, span(1, 0, 0), 1.25, span(1, 7, 12 * hour)),
            (false, span(1, 0, 0), 0.3, span(0, 9, 0)),
            (false, span(-1, 0, 0), 0.5, span(0, -15, 0)),
            (false, span(0, 1, 12 * hour), 2.5, span(0, 2, 42 * hour)),
            (false, span(1, 2, 3), -3.0, span(-3, -6, -9)),
            (true, span(1, 0, 0), 3.0, span(0, 10, 0)),
            (true, span(0, 7, 0), 2.0, span(0, 3, 12 * hour)),
        ] {
            assert_eq!(scaled(divides, of, number).unwrap(), expected, "{of:?} {number}");
        }
        assert!(scaled(true, span(1, 0, 0), 0.0).is_err());
        assert!(scaled(false, span(i32::MAX, 0, 0), 2.0).is_err());
        assert!(scaled(false, span(1, 0, 0), f64::NAN).is_err());
    }
}
