//! Dates, timestamps and intervals: their arithmetic, their parts, and what DuckDB and PostgreSQL make of them.

pub(crate) mod age;
pub(crate) mod at_time_zone;
pub(crate) mod date_arithmetic;
pub(crate) mod date_diff;
pub(crate) mod date_sub;
pub(crate) mod day_names;
pub(crate) mod epoch_ms;
pub(crate) mod interval_length;
pub(crate) mod interval_products;
pub(crate) mod last_day;
pub(crate) mod make_timestamp;
pub(crate) mod moments;
pub(crate) mod time_bucket;
pub(crate) mod to_intervals;
