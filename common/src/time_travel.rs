//! Tables of another time: `t VERSION AS OF 3`, `t TIMESTAMP AS OF '...'`, and the history of a table.
//!
//! A plan tells its scans apart by their names alone; that of such a table says what is asked: `"t VERSION AS OF 3"`.

use std::fmt;

use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use arrow::temporal_conversions::timestamp_us_to_datetime;
use datafusion::common::{Result, plan_err};

/// A state of a table among all that it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `VERSION AS OF n`: the n-th commit, from 0.
    Number(u64),
    /// `TIMESTAMP AS OF t`: the last commit up to then, in microseconds since 1970 UTC.
    Time(i64),
}

impl Version {
    /// Reads a point in time: `'2026-01-31'`, `'2026-01-31 12:00:00'` (UTC), or with an offset.
    ///
    /// # Errors
    /// If the text is none.
    pub fn parse_time(text: &str) -> Result<Self> {
        match string_to_timestamp_nanos(text) {
            Ok(nanoseconds) => Ok(Self::Time(nanoseconds.div_euclid(1000))),
            Err(_) => plan_err!("TIMESTAMP AS OF '{text}': expected a time such as '2026-01-31 12:00:00' (UTC)"),
        }
    }

    /// The point in time as text, in UTC.
    pub fn time(self) -> String {
        match self {
            Self::Time(time) => {
                timestamp_us_to_datetime(time).map_or_else(|| time.to_string(), |at| format!("{at} UTC"))
            }
            Self::Number(number) => number.to_string(),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "VERSION AS OF {number}"),
            Self::Time(time) => match timestamp_us_to_datetime(*time) {
                Some(at) => write!(f, "TIMESTAMP AS OF '{at}'"),
                None => write!(f, "TIMESTAMP AS OF '{time}'"),
            },
        }
    }
}

/// A question to a table beside its current rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeTravel {
    /// Its rows at another time.
    Version(Version),
    /// Its commits.
    History,
}

const HISTORY: &str = "HISTORY OF ";

/// The name that a plan has for what is asked of the table `name`.
pub fn time_travel_name(name: &str, travel: TimeTravel) -> String {
    match travel {
        TimeTravel::Version(version) => format!("{name} {version}"),
        TimeTravel::History => format!("{HISTORY}{name}"),
    }
}

/// The error of a table that has no other versions.
pub fn no_history<T>(table: &str, travel: TimeTravel) -> Result<T> {
    match travel {
        TimeTravel::Version(version) => plan_err!(
            "{table} {version}: the table {table} keeps no history, so it has no versions to ask for; \
             tables of a lasting database do (bonnet lab.bonnet)"
        ),
        TimeTravel::History => {
            plan_err!("the table {table} keeps no history; tables of a lasting database do (bonnet lab.bonnet)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_utc_or_with_their_offset() {
        let expected = Version::Time(1_769_860_800_000_000);
        for text in ["2026-01-31 12:00:00", "2026-01-31T12:00:00Z", "2026-01-31 14:00:00+02:00"] {
            assert_eq!(Version::parse_time(text).unwrap(), expected, "{text}");
        }
        assert_eq!(expected.to_string(), "TIMESTAMP AS OF '2026-01-31 12:00:00'");
        assert!(Version::parse_time("yesterday").unwrap_err().to_string().contains("expected a time"));
    }
}
