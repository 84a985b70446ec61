//! `to_years(n)` to `to_microseconds(n)`: a number of a unit as an interval.
//!
//! Upstream: none known
//! Shows: `SELECT to_days(3) = INTERVAL '3 days'` gives `true`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, IntervalMonthDayNano};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

use crate::times::moments::INTERVAL;
use crate::whole_numbers::whole_numbers;

/// A unit: so many months, days or nanoseconds.
#[derive(Clone, Copy)]
enum Unit {
    Months(i64),
    Days(i64),
    /// Of whole numbers.
    Time(i64),
    /// Of numbers with a fraction, which is rounded to microseconds.
    Fractions(f64),
}

const MICROSECOND: i64 = 1_000;
const SECOND: i64 = 1_000_000_000;

/// Name, unit, and description.
const UNITS: [(&str, Unit, &str, &str); 9] = [
    ("to_years", Unit::Months(12), "An interval of so many years. NULL for NULL.", "SELECT to_years(3)"),
    ("to_months", Unit::Months(1), "An interval of so many months. NULL for NULL.", "SELECT to_months(3)"),
    ("to_weeks", Unit::Days(7), "An interval of so many weeks, as days. NULL for NULL.", "SELECT to_weeks(3)"),
    ("to_days", Unit::Days(1), "An interval of so many days. NULL for NULL.", "SELECT to_days(3)"),
    ("to_hours", Unit::Time(3_600 * SECOND), "An interval of so many hours. NULL for NULL.", "SELECT to_hours(3)"),
    ("to_minutes", Unit::Time(60 * SECOND), "An interval of so many minutes. NULL for NULL.", "SELECT to_minutes(3)"),
    (
        "to_seconds",
        Unit::Fractions(1_000_000.0),
        "An interval of so many seconds, rounded to microseconds. NULL for NULL.",
        "SELECT to_seconds(1.5)",
    ),
    (
        "to_milliseconds",
        Unit::Fractions(1_000.0),
        "An interval of so many milliseconds, rounded to microseconds. NULL for NULL.",
        "SELECT to_milliseconds(1.5)",
    ),
    (
        "to_microseconds",
        Unit::Time(MICROSECOND),
        "An interval of so many microseconds. NULL for NULL.",
        "SELECT to_microseconds(3)",
    ),
];

/// The registrations.
pub(crate) fn functions() -> impl Iterator<Item = Function> {
    UNITS.into_iter().map(|(name, unit, description, example)| {
        let parameter = match unit {
            Unit::Fractions(_) => Parameter::number_column("n", "A number."),
            _ => Parameter::column("n", "A whole number."),
        };
        scalar_function(name, INTERVAL, move |columns: &[ArrayRef], _: &dyn Monitor| intervals(name, unit, &columns[0]))
            .parameters([parameter])
            .returns("INTERVAL")
            .description(description)
            .example(example)
            .source("DuckDB, interval functions")
    })
}

fn intervals(name: &str, unit: Unit, numbers: &ArrayRef) -> Result<ArrayRef> {
    let beyond = |number: String| execution_error(format!("{name}: {number} is not within INTERVAL"));
    let intervals = match unit {
        Unit::Fractions(micros) => {
            let numbers = cast(numbers, &DataType::Float64)?;
            let numbers = numbers.as_primitive::<Float64Type>().iter();
            let of = |number: f64| {
                let micros = (number * micros).round_ties_even();
                let nanos = (micros.abs() < 9e15).then(|| micros as i64 * MICROSECOND);
                nanos.map(|nanos| IntervalMonthDayNano::new(0, 0, nanos)).ok_or_else(|| beyond(number.to_string()))
            };
            numbers.map(|number| number.map(of).transpose()).collect::<Result<IntervalMonthDayNanoArray>>()?
        }
        Unit::Months(_) | Unit::Days(_) | Unit::Time(_) => {
            let numbers = whole_numbers(name, "n", numbers)?;
            let numbers = numbers.iter();
            let of = |number: i64| whole(unit, number).ok_or_else(|| beyond(number.to_string()));
            numbers.map(|number| number.map(of).transpose()).collect::<Result<IntervalMonthDayNanoArray>>()?
        }
    };
    Ok(Arc::new(intervals))
}

/// So many of a unit; `None` beyond intervals.
fn whole(unit: Unit, number: i64) -> Option<IntervalMonthDayNano> {
    let small = |length: i64| number.checked_mul(length).and_then(|parts| i32::try_from(parts).ok());
    Some(match unit {
        Unit::Months(length) => IntervalMonthDayNano::new(small(length)?, 0, 0),
        Unit::Days(length) => IntervalMonthDayNano::new(0, small(length)?, 0),
        Unit::Time(length) => IntervalMonthDayNano::new(0, 0, number.checked_mul(length)?),
        Unit::Fractions(_) => return None,
    })
}
