//! `date_sub(part, start, end)`: the full parts of the calendar between two moments.
//!
//! Upstream: none known
//! Shows: `SELECT date_sub('month', DATE '2024-01-31', DATE '2024-02-01')` gives `0`

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

use crate::times::date_diff::{Part, counts};
use crate::times::moments::{DAY, civil, day_of, month_length};

/// The registration of `date_sub`.
pub(crate) fn date_sub() -> Function {
    scalar_function("date_sub", DataType::Int64, differences)
        .parameters([
            Parameter::column("part", "The part, as of date_diff."),
            Parameter::column("start", "The earlier moment: a date, a timestamp, or text of one."),
            Parameter::column("end", "The later moment."),
        ])
        .returns("BIGINT")
        .description(
            "How many full parts lie between start and end: from 23:59 to 0:01 there is no day, and there are two minutes. \
             A month is full on the same day of the next one, or on its last day if it has no such day. Negative where end \
             comes first; also datesub. NULL for NULL.",
        )
        .example("SELECT date_sub('month', DATE '2024-01-31', DATE '2024-03-30')")
        .source("DuckDB, date functions")
}

fn differences(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    Ok(Arc::new(counts("date_sub", columns, full)?))
}

/// The full parts between two moments, in microseconds since 1970.
fn full(part: Part, start: i64, end: i64) -> i64 {
    match part {
        Part::Months(length) => months(start, end) / length,
        Part::Weeks => end.saturating_sub(start) / (7 * DAY),
        Part::Time(length) => end.saturating_sub(start) / length,
    }
}

/// The full months between two moments.
fn months(start: i64, end: i64) -> i64 {
    if end < start {
        return -months(end, start);
    }
    let (first, last) = (civil(start.div_euclid(DAY)), civil(end.div_euclid(DAY)));
    let months = (last.0 - first.0) * 12 + last.1 - first.1;
    // The day of the start in the month of the end.
    let day = first.2.min(month_length(last.0, last.1));
    let anniversary = day_of(last.0, last.1, day).saturating_mul(DAY).saturating_add(start.rem_euclid(DAY));
    if anniversary <= end { months } else { months - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As DuckDB 2.0 answers.
    #[test]
    fn full_months_are_counted() {
        let at = |year, month, day, hour: i64| day_of(year, month, day) * DAY + hour * DAY / 24;
        for (start, end, expected) in [
            (at(2024, 1, 31, 12), at(2024, 2, 29, 13), 1),
            (at(2024, 1, 30, 12), at(2024, 2, 29, 11), 0),
            (at(2024, 2, 29, 12), at(2024, 3, 31, 11), 1),
            (at(2024, 3, 31, 11), at(2024, 2, 29, 12), -1),
            (at(2024, 2, 29, 0), at(2025, 2, 28, 0), 12),
            (at(2024, 1, 31, 0), at(2024, 7, 30, 0), 5),
        ] {
            assert_eq!(full(Part::Months(1), start, end), expected, "{start} {end}");
        }
        assert_eq!(full(Part::Time(DAY), at(2024, 1, 1, 12), at(2024, 1, 3, 11)), 1);
        assert_eq!(full(Part::Weeks, at(2024, 1, 1, 0), at(2024, 1, 14, 0)), 1);
    }
}
