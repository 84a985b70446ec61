//! `time_bucket(width, moment [, origin])`: the start of the interval of a fixed width that holds a moment.
//!
//! Upstream: none known
//! Shows: `SELECT time_bucket(INTERVAL '1 month', DATE '2024-02-10') = DATE '2024-02-01'` gives `true`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Date32Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, sql_type, typed_scalar_function};
use datafusion::common::{DataFusionError, Result, plan_err};

use crate::times::moments::{DAY, INTERVAL, civil, day_of, micros, month_length};

/// The month that the buckets of months start in, 2000-01, as months since the year 0.
const FIRST_MONTH: i64 = 24_000;
/// The Monday that the others start at, 2000-01-03.
const FIRST_MONDAY: i64 = 10_959 * DAY;

/// The registration of `time_bucket`.
pub(crate) fn time_bucket() -> Function {
    typed_scalar_function("time_bucket", bucket_type, buckets)
        .parameters([
            Parameter::column("width", "An INTERVAL: of months alone, or of days and a time."),
            Parameter::column("moment", "A date, a timestamp, or text of one."),
            Parameter::column(
                "origin",
                "A date or timestamp at which a bucket starts, by default 2000-01-03, of months 2000-01-01; or an INTERVAL by \
                 which the buckets start later.",
            )
            .optional(),
        ])
        .returns("DATE of a date, TIMESTAMP(6) of others")
        .description(
            "The start of the bucket that holds a moment, where buckets of one width follow each other. Of the origin of \
             buckets of months its month alone counts. NULL for NULL.",
        )
        .example("SELECT time_bucket(INTERVAL '2 weeks', DATE '2024-02-10')")
        .source("DuckDB, date functions")
}

fn bucket_type(given: &[DataType]) -> Result<DataType> {
    match given {
        [DataType::Interval(_) | DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, ..] => {}
        [width, ..] => return plan_err!("time_bucket: width is {}; it takes an INTERVAL", sql_type(width)),
        [] => {}
    }
    Ok(match given.get(1) {
        Some(DataType::Date32) => DataType::Date32,
        Some(DataType::Timestamp(_, zone)) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        _ => DataType::Timestamp(TimeUnit::Microsecond, None),
    })
}

/// Where buckets start.
#[derive(Clone, Copy)]
enum Origin {
    Default,
    At(i64),
    Later(IntervalMonthDayNano),
}

fn buckets(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let to = bucket_type(&columns.iter().map(|column| column.data_type().clone()).collect::<Vec<_>>())?;
    let widths = cast(&columns[0], &INTERVAL)?;
    let widths = widths.as_primitive::<IntervalMonthDayNanoType>();
    let moments = micros(&columns[1])?;
    // An origin that was left out is a NULL without a type.
    let origins: Vec<Option<Origin>> = match columns[2].data_type() {
        DataType::Null => vec![Some(Origin::Default); moments.len()],
        DataType::Interval(_) => {
            let later = cast(&columns[2], &INTERVAL)?;
            later.as_primitive::<IntervalMonthDayNanoType>().iter().map(|later| later.map(Origin::Later)).collect()
        }
        _ => micros(&columns[2])?.iter().map(|at| at.map(Origin::At)).collect(),
    };
    let starts = (0..moments.len()).map(|row| {
        let (true, true, Some(origin)) = (widths.is_valid(row), moments.is_valid(row), origins[row]) else {
            return Ok(None);
        };
        bucket(widths.value(row), moments.value(row), origin).map(Some)
    });
    let starts: TimestampMicrosecondArray = starts.collect::<Result<_>>()?;
    match to {
        DataType::Date32 => {
            let days = starts.unary::<_, Date32Type>(|start| start.div_euclid(DAY) as i32);
            Ok(Arc::new(days))
        }
        // The hours in the zone again.
        to => Ok(cast(&(Arc::new(starts) as ArrayRef), &to)?),
    }
}

/// The start of a moment's bucket.
fn bucket(width: IntervalMonthDayNano, moment: i64, origin: Origin) -> Result<i64> {
    let time = i64::from(width.days).checked_mul(DAY).and_then(|days| days.checked_add(width.nanoseconds / 1000));
    let time = time.ok_or_else(beyond)?;
    if width.months != 0 && time != 0 {
        return Err(refused("width has months and days; it is of months alone, or of days and a time"));
    }
    let months = i64::from(width.months);
    if months < 0 || time < 0 || months + time == 0 {
        return Err(refused("width is not above 0"));
    }
    if let Origin::Later(later) = origin {
        let back = IntervalMonthDayNano::new(-later.months, -later.days, -later.nanoseconds);
        let start = bucket(width, shifted(moment, back)?, Origin::Default)?;
        return shifted(start, later);
    }
    if months > 0 {
        let first = if let Origin::At(at) = origin { month_of(at).0 } else { FIRST_MONTH };
        let month = first + (month_of(moment).0 - first).div_euclid(months) * months;
        return day_of(0, month + 1, 1).checked_mul(DAY).ok_or_else(beyond);
    }
    let first = if let Origin::At(at) = origin { at } else { FIRST_MONDAY };
    let start = i128::from(moment) - (i128::from(moment) - i128::from(first)).rem_euclid(time.into());
    i64::try_from(start).map_err(|_| beyond())
}

/// The month of a moment since the year 0, and the day in it.
fn month_of(moment: i64) -> (i64, i64) {
    let (year, month, day) = civil(moment.div_euclid(DAY));
    (year * 12 + month - 1, day)
}

/// A moment later by an interval: months, then days and the time.
fn shifted(moment: i64, by: IntervalMonthDayNano) -> Result<i64> {
    let (month, day) = month_of(moment);
    let month = month + i64::from(by.months);
    let day = day_of(0, month + 1, day.min(month_length(0, month + 1))) + i64::from(by.days);
    let start = day.checked_mul(DAY).and_then(|start| start.checked_add(moment.rem_euclid(DAY)));
    start.and_then(|start| start.checked_add(by.nanoseconds / 1000)).ok_or_else(beyond)
}

fn refused(reason: &str) -> DataFusionError {
    execution_error(format!("time_bucket: {reason}"))
}

fn beyond() -> DataFusionError {
    refused("the bucket starts beyond the range of TIMESTAMP")
}
