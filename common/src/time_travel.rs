//! Tables of another time: `t VERSION AS OF 3`, `t TIMESTAMP AS OF '...'`, and the history of a table.
//!
//! DataFusion reads such a table's name and forgets the version; so a statement carries both in one name, which no
//! other table has: `"t VERSION AS OF 3"`.

use std::fmt;

use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use arrow::temporal_conversions::timestamp_us_to_datetime;
use datafusion::common::{Result, plan_datafusion_err, plan_err};

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

/// The name under which a statement carries what it asks of the table `name`.
pub fn time_travel_name(name: &str, travel: TimeTravel) -> String {
    match travel {
        TimeTravel::Version(version) => format!("{name} {version}"),
        TimeTravel::History => format!("{HISTORY}{name}"),
    }
}

/// The table and what is asked of it, for names made by [`time_travel_name`].
///
/// # Errors
/// If the version cannot be read.
pub fn parse_time_travel_name(name: &str) -> Result<Option<(&str, TimeTravel)>> {
    if let Some(table) = name.strip_prefix(HISTORY) {
        return Ok(Some((table, TimeTravel::History)));
    }
    // The last of the words is the statement's; any before are part of the table's own name.
    let (version, time) = (name.rsplit_once(" VERSION AS OF "), name.rsplit_once(" TIMESTAMP AS OF "));
    let length = |found: Option<(&str, &str)>| found.map(|(table, _)| table.len());
    if let Some((table, time)) = time.filter(|_| length(time) > length(version)) {
        return Ok(Some((table, TimeTravel::Version(Version::parse_time(time.trim_matches('\''))?))));
    }
    if let Some((table, number)) = version {
        let number = number.parse();
        let number = number.map_err(|_| plan_datafusion_err!("{name}: a version is a whole number from 0"))?;
        return Ok(Some((table, TimeTravel::Version(Version::Number(number)))));
    }
    Ok(None)
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
    fn a_name_carries_what_is_asked_and_gives_it_back() {
        for travel in [
            TimeTravel::History,
            TimeTravel::Version(Version::Number(3)),
            TimeTravel::Version(Version::parse_time("2026-01-31 12:00:00.5").unwrap()),
        ] {
            for table in ["t", "a b", "x VERSION AS OF 2"] {
                let name = time_travel_name(table, travel);
                assert_eq!(parse_time_travel_name(&name).unwrap(), Some((table, travel)), "{name}");
            }
        }
        assert_eq!(parse_time_travel_name("results").unwrap(), None);
        assert!(parse_time_travel_name("t VERSION AS OF -1").is_err());
    }

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
