//! `last_day(date)`: the last day of the month.
//!
//! Upstream: none known
//! Shows: `SELECT last_day(DATE '2024-02-10') = DATE '2024-02-29'` gives `true`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Date32Type, Int32Type, Int64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

use crate::times::moments::{civil, day_of, days};

/// The registration of `last_day`.
pub(crate) fn last_day() -> Function {
    scalar_function("last_day", DataType::Date32, last_days)
        .parameters([Parameter::column("date", "A date, a timestamp, or text of one.")])
        .returns("DATE")
        .description("The last day of the month. NULL for NULL.")
        .example("SELECT last_day(DATE '2024-02-10')")
        .source("DuckDB, date functions")
}

fn last_days(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let last = days(&columns[0])?.unary::<_, Int64Type>(|day| {
        let (year, month, _) = civil(day);
        day_of(year, month + 1, 1) - 1
    });
    // The end of the last month that dates reach is beyond them.
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let last = cast_with_options(&(Arc::new(last) as ArrayRef), &DataType::Int32, &strict)?;
    Ok(Arc::new(last.as_primitive::<Int32Type>().reinterpret_cast::<Date32Type>()))
}
