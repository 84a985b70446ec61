//! `age(end, start)`: the time between two moments in months, days and microseconds of the calendar.
//!
//! Upstream: none known
//! Shows: `SELECT age(TIMESTAMP '2001-04-10', TIMESTAMP '1957-06-13') = INTERVAL '43 years 9 months 27 days'` gives `true`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalMonthDayNano, IntervalUnit, TimeUnit, TimestampMicrosecondType};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

use crate::times::moments::{civil, month_length};

const DAY: i64 = 86_400_000_000;

/// The registration of `age`.
pub(crate) fn age() -> Function {
    scalar_function("age", DataType::Interval(IntervalUnit::MonthDayNano), ages)
        .parameters([
            Parameter::column("end", "The later moment: a date, a timestamp, or text of one."),
            Parameter::column("start", "The earlier moment."),
        ])
        .returns("INTERVAL")
        .description(
            "The time from start to end in months, days and microseconds of the calendar, as PostgreSQL and DuckDB count \
             it: full months from the earlier day on, then days. Negative where end comes first. age(start) counts to \
             today's midnight. NULL for NULL.",
        )
        .example("SELECT age(TIMESTAMP '2001-04-10', TIMESTAMP '1957-06-13')")
        .source("PostgreSQL 17, Table 9.33")
}

/// The ages of rows.
fn ages(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let moments: Vec<ArrayRef> = columns
        .iter()
        .map(|column| cast(column, &DataType::Timestamp(TimeUnit::Microsecond, None)))
        .collect::<Result<_, _>>()?;
    let [ends, starts] = [0, 1].map(|i| moments[i].as_primitive::<TimestampMicrosecondType>());
    let ages = ends.iter().zip(starts.iter()).map(|(end, start)| Some(between(end?, start?)));
    Ok(Arc::new(ages.collect::<IntervalMonthDayNanoArray>()))
}

/// The time between two moments, in microseconds since 1970.
fn between(end: i64, start: i64) -> IntervalMonthDayNano {
    let (later, earlier) = if end >= start { (end, start) } else { (start, end) };
    let (first, second) = (civil(earlier.div_euclid(DAY)), civil(later.div_euclid(DAY)));
    let mut micros = later.rem_euclid(DAY) - earlier.rem_euclid(DAY);
    let mut days = second.2 - first.2;
    let mut months = (second.0 - first.0) * 12 + second.1 - first.1;
    if micros < 0 {
        micros += DAY;
        days -= 1;
    }
    while days < 0 {
        // The days of an incomplete month are counted from the month of the earlier day.
        days += month_length(first.0, first.1);
        months -= 1;
    }
    let sign = if end >= start { 1 } else { -1 };
    IntervalMonthDayNano::new((sign * months) as i32, (sign * days) as i32, sign * micros * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_postgresql() {
        let day = |day: i64| day * DAY;
        // 2001-04-10 and 1957-06-13: 43 years 9 months 27 days.
        assert_eq!(between(day(11_422), day(-4585)), IntervalMonthDayNano::new(43 * 12 + 9, 27, 0));
        assert_eq!(between(day(-4585), day(11_422)), IntervalMonthDayNano::new(-43 * 12 - 9, -27, 0));
        // An hour before the day is full: 2024-03-31 from 2024-02-29 01:00.
        assert_eq!(between(day(19_813), day(19_782) + DAY / 24), IntervalMonthDayNano::new(1, 1, DAY / 24 * 23 * 1000));
    }
}
