//! Days and microseconds since 1970 of columns of dates, timestamps, and texts of them.

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Date32Type, IntervalUnit, TimeUnit, TimestampMicrosecondType};
use datafusion::common::Result;

pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// The type of moments.
pub(crate) const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// The type of intervals.
pub(crate) const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

/// Microseconds since 1970.
pub(crate) fn micros(column: &ArrayRef) -> Result<Int64Array> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let moments = cast_with_options(column, &TIMESTAMP, &strict)?;
    Ok(moments.as_primitive::<TimestampMicrosecondType>().reinterpret_cast())
}

/// Days since 1970.
pub(crate) fn days(column: &ArrayRef) -> Result<Int64Array> {
    match column.data_type() {
        // Dates reach further than timestamps.
        DataType::Date32 => Ok(column.as_primitive::<Date32Type>().unary(i64::from)),
        _ => Ok(micros(column)?.unary(|moment| moment.div_euclid(DAY))),
    }
}

/// The day since 1970 of a date, the inverse of [`civil`]: H. Hinnant, chrono-compatible low-level date algorithms.
/// Months beyond 1 to 12 and days beyond the month's carry over.
pub(crate) fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 3;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

/// The number of days of a month.
pub(crate) fn month_length(year: i64, month: i64) -> i64 {
    day_of(year, month + 1, 1) - day_of(year, month, 1)
}

/// Year, month and day of a day since 1970: H. Hinnant, chrono-compatible low-level date algorithms.
pub(crate) fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(19_782), (2024, 2, 29));
    }

    #[test]
    fn dates_have_their_days_and_back() {
        for day in (-5_000_000..5_000_000).step_by(997) {
            let (year, month, of_month) = civil(day);
            assert_eq!(day_of(year, month, of_month), day);
        }
        assert_eq!(day_of(2023, 14, 29), day_of(2024, 2, 29));
        assert_eq!([1900, 2000, 2023, 2024].map(|year| month_length(year, 2)), [28, 29, 28, 29]);
    }
}
