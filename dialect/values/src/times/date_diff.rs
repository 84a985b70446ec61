//! `date_diff(part, start, end)`: the borders of a part of the calendar between two moments.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/7097>
//! Shows: `SELECT date_diff('month', DATE '2024-01-31', DATE '2024-02-01')` gives `1`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

use crate::times::moments::{DAY, SECOND, civil, micros};

/// The registration of `date_diff`.
pub(crate) fn date_diff() -> Function {
    scalar_function("date_diff", DataType::Int64, differences)
        .parameters([
            Parameter::column(
                "part",
                "The part: year, quarter, month, week, day, hour, minute, second, millisecond, microsecond, decade, century or millennium.",
            ),
            Parameter::column("start", "The earlier moment: a date, a timestamp, or text of one."),
            Parameter::column("end", "The later moment."),
        ])
        .returns("BIGINT")
        .description(
            "How many borders of the part lie between start and end: from 23:59 to 0:01 it is one day and two minutes. \
             Weeks are full ones, seven days each. Negative where end comes first; also datediff. NULL for NULL.",
        )
        .example("SELECT date_diff('month', DATE '2024-01-31', DATE '2024-02-01')")
        .source("DuckDB, date functions")
}

/// The differences of rows.
fn differences(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    Ok(Arc::new(counts("date_diff", columns, Part::borders)?))
}

/// What a function of this name counts of a part between two moments, by row.
pub(crate) fn counts(
    function: &str,
    columns: &[ArrayRef],
    count: impl Fn(Part, i64, i64) -> i64,
) -> Result<Int64Array> {
    let parts = cast(&columns[0], &DataType::Utf8)?;
    let parts = parts.as_string::<i32>();
    let (starts, ends) = (micros(&columns[1])?, micros(&columns[2])?);
    let mut known: Option<(&str, Part)> = None;
    let rows = (0..parts.len()).map(|row| {
        if parts.is_null(row) || starts.is_null(row) || ends.is_null(row) {
            return Ok(None);
        }
        let name = parts.value(row);
        let part = match known {
            Some((same, part)) if same == name => part,
            _ => Part::named(function, name)?,
        };
        known = Some((name, part));
        Ok(Some(count(part, starts.value(row), ends.value(row))))
    });
    rows.collect()
}

/// A part of the calendar.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// So many months.
    Months(i64),
    Weeks,
    /// So many microseconds.
    Time(i64),
}

impl Part {
    fn named(function: &str, name: &str) -> Result<Self> {
        let lower = name.to_ascii_lowercase();
        Ok(match lower.strip_suffix('s').unwrap_or(&lower) {
            "year" => Self::Months(12),
            "quarter" => Self::Months(3),
            "month" => Self::Months(1),
            "decade" => Self::Months(120),
            "century" | "centurie" => Self::Months(1200),
            "millennium" | "millennia" | "millenium" => Self::Months(12_000),
            "week" => Self::Weeks,
            "day" => Self::Time(DAY),
            "hour" => Self::Time(3_600 * SECOND),
            "minute" => Self::Time(60 * SECOND),
            "second" => Self::Time(SECOND),
            "millisecond" => Self::Time(SECOND / 1_000),
            "microsecond" => Self::Time(1),
            _ => {
                return Err(execution_error(format!(
                    "{function}: there is no part '{name}': year, quarter, month, week, day, hour, minute, second, \
                     millisecond, microsecond, decade, century or millennium"
                )));
            }
        })
    }

    /// The borders between two moments, in microseconds since 1970.
    fn borders(self, start: i64, end: i64) -> i64 {
        match self {
            Self::Months(length) => month(end).div_euclid(length) - month(start).div_euclid(length),
            Self::Weeks => (end.div_euclid(DAY) - start.div_euclid(DAY)) / 7,
            Self::Time(length) => end.div_euclid(length) - start.div_euclid(length),
        }
    }
}

/// The months since the year 0.
fn month(moment: i64) -> i64 {
    let (year, month, _) = civil(moment.div_euclid(DAY));
    year * 12 + month - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    // As DuckDB 2.0 answers.
    #[test]
    fn borders_are_counted() {
        let at = |day: i64, seconds: i64| day * DAY + seconds * SECOND;
        for (part, start, end, expected) in [
            ("day", at(-1, 43_200), at(0, 43_200), 1),
            ("Months", at(-1, 43_200), at(0, 43_200), 1),
            ("year", at(19_722, 0), at(19_723, 0), 1),
            ("week", at(19_729, 0), at(19_730, 0), 0),
            ("week", at(19_723, 43_200), at(19_730, 21_600), 1),
            ("week", at(19_730, 0), at(19_723, 0), -1),
            ("second", -SECOND / 2, SECOND / 2, 1),
            ("decade", at(17_956, 0), at(19_723, 0), 1),
        ] {
            assert_eq!(Part::named("date_diff", part).unwrap().borders(start, end), expected, "{part}");
        }
        assert!(Part::named("date_diff", "foo").is_err());
    }
}
