//! `avg` of intervals, as in PostgreSQL and DuckDB: what is left of the months becomes days, 30 each, and what is left of the
//! days hours. DataFusion 55 has none.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/23085>
//! Shows: `SELECT avg(x) = INTERVAL '15 days' FROM (VALUES (INTERVAL '1 month'), (INTERVAL '0 days')) AS t(x)` gives `true`

use std::sync::Arc;

use crate::times::interval_length::{DAYS_OF_A_MONTH, NANOSECONDS_OF_A_DAY};
use crate::times::moments::INTERVAL;
use arrow::array::{ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, FieldRef, IntervalMonthDayNano, IntervalMonthDayNanoType,
};
use bonnet_common::raise;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::utils::format_state_name;

const TOTAL: DataType = DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0);
const PARTS: [&str; 4] = ["months", "days", "nanoseconds", "count"];

/// The fields of a state.
pub(crate) fn state_fields(name: &str) -> Vec<FieldRef> {
    PARTS.iter().map(|part| Arc::new(Field::new(format_state_name(name, part), TOTAL, true))).collect()
}

/// The totals of months, of days and of nanoseconds, and the number of intervals.
#[derive(Debug, Default)]
pub(crate) struct IntervalAverage {
    totals: [i128; 4],
}

impl IntervalAverage {
    fn add(&mut self, values: &ArrayRef, sign: i128) -> Result<()> {
        let intervals = cast(values, &INTERVAL)?;
        for interval in intervals.as_primitive::<IntervalMonthDayNanoType>().iter().flatten() {
            let parts: [i128; 4] = [interval.months.into(), interval.days.into(), interval.nanoseconds.into(), 1];
            self.totals.iter_mut().zip(parts).for_each(|(total, part)| *total += sign * part);
        }
        Ok(())
    }

    fn average(&self) -> Option<Result<IntervalMonthDayNano>> {
        let [months, days, nanoseconds, count] = self.totals;
        if count == 0 {
            return None;
        }
        let days = days + months % count * DAYS_OF_A_MONTH;
        let nanoseconds = (nanoseconds + days % count * NANOSECONDS_OF_A_DAY) / count;
        let parts = (i32::try_from(months / count), i32::try_from(days / count), i64::try_from(nanoseconds));
        Some(match parts {
            (Ok(months), Ok(days), Ok(nanoseconds)) => Ok(IntervalMonthDayNano::new(months, days, nanoseconds)),
            _ => raise!(OutOfRange, "overflow: the average of avg is not within INTERVAL"),
        })
    }
}

impl Accumulator for IntervalAverage {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(&values[0], 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(&values[0], -1)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for (total, state) in self.totals.iter_mut().zip(states) {
            let state: &Decimal128Array = state.as_primitive::<Decimal128Type>();
            *total += state.iter().flatten().sum::<i128>();
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(self.totals.map(|total| ScalarValue::Decimal128(Some(total), DECIMAL128_MAX_PRECISION, 0)).to_vec())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.average().transpose().map(ScalarValue::IntervalMonthDayNano)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::IntervalMonthDayNanoArray;

    use super::*;

    #[test]
    fn what_is_left_of_months_becomes_days_and_of_days_hours() {
        let hour = 3_600_000_000_000;
        let of = |intervals: &[(i32, i32, i64)]| {
            let intervals = intervals
                .iter()
                .map(|&(months, days, nanoseconds)| Some(IntervalMonthDayNano::new(months, days, nanoseconds)));
            let values: ArrayRef = Arc::new(intervals.collect::<IntervalMonthDayNanoArray>());
            let (mut first, mut average) = (IntervalAverage::default(), IntervalAverage::default());
            first.update_batch(&[values]).unwrap();
            let state: Vec<ArrayRef> = first.state().unwrap().iter().map(|part| part.to_array().unwrap()).collect();
            average.merge_batch(&state).unwrap();
            average.average().map(Result::unwrap)
        };
        // As DuckDB 2.0.0 answers.
        assert_eq!(of(&[(0, 1, 0), (0, 2, 0), (0, 2, 0)]), Some(IntervalMonthDayNano::new(0, 1, 16 * hour)));
        assert_eq!(of(&[(1, 0, 0), (0, 0, 2 * hour)]), Some(IntervalMonthDayNano::new(0, 15, hour)));
        assert_eq!(of(&[]), None);
    }
}
