//! `dayname(date)` and `monthname(date)`: English names of the calendar.
//!
//! Upstream: none known
//! Shows: `SELECT dayname(DATE '2024-01-31'), monthname(DATE '2024-01-31')` gives `Wednesday | January`

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

use crate::times::moments::{civil, days};

/// From the day of 1970-01-01 on.
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The registrations.
pub(crate) fn functions() -> [Function; 2] {
    let named = |name, kernel: fn(i64) -> &'static str| {
        scalar_function(name, DataType::Utf8, move |columns: &[ArrayRef], _: &dyn Monitor| names(columns, kernel))
            .parameters([Parameter::column("date", "A date, a timestamp, or text of one.")])
            .returns("TEXT")
            .source("DuckDB, date functions")
    };
    [
        named("dayname", |day| DAYS[day.rem_euclid(7) as usize])
            .description("The English name of the day of the week: Monday. NULL for NULL.")
            .example("SELECT dayname(DATE '2024-02-10')"),
        named("monthname", |day| MONTHS[civil(day).1 as usize - 1])
            .description("The English name of the month: February. NULL for NULL.")
            .example("SELECT monthname(DATE '2024-02-10')"),
    ]
}

fn names(columns: &[ArrayRef], name: fn(i64) -> &'static str) -> Result<ArrayRef> {
    let days = days(&columns[0])?;
    Ok(Arc::new(days.iter().map(|day| day.map(name)).collect::<StringArray>()))
}
