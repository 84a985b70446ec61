//! `make_timestamp(year, month, day, hour, minute, second)`: a moment from its parts.
//!
//! Upstream: none known
//! Shows: `SELECT make_timestamp(2024, 1, 31, 10, 0, 0.5) = TIMESTAMP '2024-01-31 10:00:00.5'` gives `true`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, TimestampMicrosecondType};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, typed_scalar_function};
use datafusion::common::{DataFusionError, Result, plan_err};

use crate::times::moments::{DAY, SECOND, TIMESTAMP, day_of, month_length};
use crate::whole_numbers::whole_numbers;

const PARTS: [&str; 5] = ["year", "month", "day", "hour", "minute"];

/// The registration of `make_timestamp`.
pub(crate) fn make_timestamp() -> Function {
    typed_scalar_function("make_timestamp", moment_type, moments)
        .parameters([
            Parameter::column("year", "The year; alone: microseconds since 1970."),
            Parameter::column("month", "The month, from 1 to 12.").optional(),
            Parameter::column("day", "The day, from 1 on.").optional(),
            Parameter::column("hour", "The hour, from 0 to 23; 24 at the end of the day.").optional(),
            Parameter::column("minute", "The minute, from 0 to 59.").optional(),
            Parameter::number_column("second", "The second with its fraction, rounded to microseconds.").optional(),
        ])
        .returns("TIMESTAMP(6)")
        .description(
            "The moment of these parts, all six of them, or of microseconds since 1970. NULL if one of them is NULL.",
        )
        .example("SELECT make_timestamp(2024, 2, 10, 12, 30, 1.5)")
        .source("DuckDB, timestamp functions")
}

fn moment_type(given: &[DataType]) -> Result<DataType> {
    match given.len() {
        1 | 6 => Ok(TIMESTAMP),
        n => {
            plan_err!("make_timestamp: {n} arguments given; it takes the six parts of a moment, or microseconds alone")
        }
    }
}

fn moments(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let whole = PARTS.iter().zip(columns).map(|(part, column)| whole_numbers("make_timestamp", part, column));
    let whole = whole.collect::<Result<Vec<_>>>()?;
    // What is left out comes as a NULL without a type.
    if columns[1..].iter().all(|column| *column.data_type() == DataType::Null) {
        return Ok(Arc::new(whole[0].reinterpret_cast::<TimestampMicrosecondType>()));
    }
    let seconds = cast(&columns[5], &DataType::Float64)?;
    let seconds = seconds.as_primitive::<Float64Type>();
    let moments = (0..seconds.len()).map(|row| {
        if seconds.is_null(row) || whole.iter().any(|part| part.is_null(row)) {
            return Ok(None);
        }
        let part = |at: usize| whole[at].value(row);
        moment([part(0), part(1), part(2), part(3), part(4)], seconds.value(row)).map(Some)
    });
    Ok(Arc::new(moments.collect::<Result<TimestampMicrosecondArray>>()?))
}

/// Microseconds since 1970.
fn moment([year, month, day, hour, minute]: [i64; 5], second: f64) -> Result<i64> {
    let years = -290_308..=294_247;
    if !years.contains(&year) || !(1..=12).contains(&month) || !(1..=month_length(year, month)).contains(&day) {
        return Err(refused(format!("there is no date {year}-{month}-{day}")));
    }
    let last = hour == 24 && minute == 0 && second == 0.0;
    if !last && (!(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0.0..=60.0).contains(&second)) {
        return Err(refused(format!("there is no time {hour}:{minute}:{second}")));
    }
    let of_day = (hour * 3600 + minute * 60) * SECOND + (second * SECOND as f64).round_ties_even() as i64;
    let start = day_of(year, month, day).checked_mul(DAY);
    let moment = start.and_then(|start| start.checked_add(of_day));
    moment.ok_or_else(|| refused(format!("{year}-{month}-{day} is not within TIMESTAMP")))
}

fn refused(reason: String) -> DataFusionError {
    execution_error(format!("make_timestamp: {reason}"))
}
