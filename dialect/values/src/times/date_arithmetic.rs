//! Arithmetic of dates and timestamps, as in DuckDB and PostgreSQL: DATE + INTERVAL is a TIMESTAMP, and the difference of two
//! TIMESTAMPs an INTERVAL of days and a time of day.
//!
//! DataFusion 55 answers a DATE, without the hours of the interval, and a Duration, which has no days.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/19527> <https://github.com/apache/datafusion/issues/7068>
//! Shows: `SELECT DATE '2024-01-31' + INTERVAL '1 hour' = TIMESTAMP '2024-01-31 01:00:00'` gives `true`
//! Shows: `SELECT arrow_typeof(TIMESTAMP '2024-01-02' - TIMESTAMP '2024-01-01')` gives `Interval(MonthDayNano)`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast as cast_array;
use arrow::datatypes::{DataType, Int64Type, IntervalMonthDayNano, IntervalUnit, TimeUnit};
use arrow::error::ArrowError;
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, cast,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use crate::times::interval_products;

const SECONDS_OF_A_DAY: i64 = 86_400;
const NANOSECONDS_OF_A_SECOND: i64 = 1_000_000_000;

/// A timestamp of microseconds: nanoseconds end in 2262.
const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// Plans sums and differences of dates, timestamps and intervals.
#[derive(Debug)]
pub struct DateArithmetic;

impl ExprPlanner for DateArithmetic {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let adds = match expr.op {
            BinaryOperator::Plus => true,
            BinaryOperator::Minus => false,
            BinaryOperator::Multiply => return scaled(expr, false, schema),
            BinaryOperator::Divide => return scaled(expr, true, schema),
            _ => return Ok(PlannerResult::Original(expr)),
        };
        // The right operand first: the left one of a long sum is long, and mostly a number.
        let Ok(right) = expr.right.get_type(schema) else { return Ok(PlannerResult::Original(expr)) };
        if !right.is_temporal() {
            return Ok(PlannerResult::Original(expr));
        }
        let Ok(left) = expr.left.get_type(schema) else { return Ok(PlannerResult::Original(expr)) };
        let RawBinaryExpr { op, left: a, right: b } = expr;
        let (a, b) = match (is_date(&left), is_date(&right)) {
            (true, false) if is_span(&right) => (cast(a, TIMESTAMP), b),
            (false, true) if adds && is_span(&left) => (a, cast(b, TIMESTAMP)),
            (date, other) if !adds && is_moment(&left) && is_moment(&right) && !(date && other) => {
                let local = |kind: &DataType| !matches!(kind, DataType::Timestamp(_, Some(_)));
                let (a, b) = match (date || other) && local(&left) && local(&right) {
                    true => (cast(a, TIMESTAMP), cast(b, TIMESTAMP)),
                    false => (a, b),
                };
                let difference = BinaryExpr::new(Box::new(a), Operator::Minus, Box::new(b));
                return Ok(PlannerResult::Planned(function().call(vec![Expr::BinaryExpr(difference)])));
            }
            _ => (a, b),
        };
        Ok(PlannerResult::Original(RawBinaryExpr { op, left: a, right: b }))
    }
}

/// `interval * number`, `number * interval` and `interval / number`.
fn scaled(expr: RawBinaryExpr, divides: bool, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let is_number = |kind: &DataType| kind.is_numeric() || kind.is_null();
    let Ok(right) = expr.right.get_type(schema) else { return Ok(PlannerResult::Original(expr)) };
    // A product of numbers may be long, and is none of intervals: those are functions.
    let product = |expr: &Expr| match expr {
        Expr::BinaryExpr(binary) => matches!(binary.op, Operator::Multiply | Operator::Divide),
        _ => false,
    };
    if product(&expr.left) && !is_span(&right) {
        return Ok(PlannerResult::Original(expr));
    }
    let Ok(left) = expr.left.get_type(schema) else { return Ok(PlannerResult::Original(expr)) };
    let args = match (is_span(&left), is_span(&right)) {
        (true, false) if is_number(&right) => vec![expr.left, expr.right],
        (false, true) if !divides && is_number(&left) => vec![expr.right, expr.left],
        _ => return Ok(PlannerResult::Original(expr)),
    };
    Ok(PlannerResult::Planned(interval_products::function(divides).call(args)))
}

fn is_date(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64)
}

fn is_moment(kind: &DataType) -> bool {
    is_date(kind) || matches!(kind, DataType::Timestamp(..))
}

fn is_span(kind: &DataType) -> bool {
    matches!(kind, DataType::Interval(_) | DataType::Duration(_))
}

/// The function that makes an interval of the difference of two timestamps.
pub(crate) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(IntervalOfDuration { signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct IntervalOfDuration {
    signature: Signature,
}

impl ScalarUDFImpl for IntervalOfDuration {
    fn name(&self) -> &str {
        "interval_of_duration"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(Expr::to_string).collect())
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(|arg| arg.schema_name().to_string()).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Interval(IntervalUnit::MonthDayNano))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = match &args.args[0] {
            ColumnarValue::Array(_) => args.number_rows,
            ColumnarValue::Scalar(_) => 1,
        };
        let durations = args.args[0].clone().into_array(rows)?;
        let intervals: ArrayRef = Arc::new(intervals(&durations)?);
        match &args.args[0] {
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(intervals)),
            ColumnarValue::Scalar(_) => ScalarValue::try_from_array(&intervals, 0).map(ColumnarValue::Scalar),
        }
    }
}

fn intervals(durations: &ArrayRef) -> Result<IntervalMonthDayNanoArray> {
    let per_second = match durations.data_type() {
        DataType::Duration(TimeUnit::Second) => 1,
        DataType::Duration(TimeUnit::Millisecond) => 1_000,
        DataType::Duration(TimeUnit::Microsecond) => 1_000_000,
        DataType::Duration(TimeUnit::Nanosecond) => NANOSECONDS_OF_A_SECOND,
        other => return exec_err!("interval_of_duration takes a difference of timestamps, not {other}"),
    };
    let ticks = cast_array(durations, &DataType::Int64)?;
    Ok(ticks.as_primitive::<Int64Type>().try_unary(|ticks| interval(ticks, per_second))?)
}

/// The whole days of a duration, and the rest; both with its sign.
fn interval(ticks: i64, per_second: i64) -> Result<IntervalMonthDayNano, ArrowError> {
    let per_day = per_second * SECONDS_OF_A_DAY;
    let days = i32::try_from(ticks / per_day).map_err(|_| {
        ArrowError::ComputeError("a difference of timestamps has more days than an INTERVAL".to_owned())
    })?;
    Ok(IntervalMonthDayNano::new(0, days, ticks % per_day * (NANOSECONDS_OF_A_SECOND / per_second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_time_have_the_sign_of_the_difference() {
        let hour = 3_600 * NANOSECONDS_OF_A_SECOND;
        for (ticks, days, hours) in [(49, 2, 1), (-49, -2, -1), (23, 0, 23), (0, 0, 0)] {
            let found = interval(ticks * 3_600_000_000, 1_000_000).unwrap();
            assert_eq!(found, IntervalMonthDayNano::new(0, days, hours * hour));
        }
        assert!(interval(i64::MAX, 1).is_err());
    }
}
