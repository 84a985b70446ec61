//! Timestamps on an axis, in the proleptic Gregorian calendar and UTC.

use crate::tick::{Tick, round_step};

const DAY: f64 = 86_400.0;

/// Steps shorter than a month, in seconds.
const STEPS: [f64; 13] =
    [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 10_800.0, 21_600.0, 43_200.0, DAY, 2.0 * DAY, 7.0 * DAY];

/// Longer steps, in months.
const MONTHS: [i64; 8] = [1, 3, 6, 12, 24, 60, 120, 240];

/// Year, month and day of a number of days since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", civil_from_days).
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The days from 1970-01-01 to the first of a month (days_from_civil, at the same place).
fn first_of_month(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5;
    let year_of_era = year.rem_euclid(400);
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

/// A timestamp with all that it says: the date, and the time of day unless that is midnight.
pub(crate) fn full(seconds: f64) -> String {
    if !seconds.is_finite() {
        return String::new();
    }
    let days = (seconds / DAY).floor();
    let (year, month, day) = date(days as i64);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let rest = seconds - days * DAY;
    if rest == 0.0 {
        return date;
    }
    let (whole, fraction) = (rest as u32, rest.fract());
    let clock = format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    let fraction =
        if fraction > 0.0 { format!("{fraction:.6}").trim_start_matches('0').to_owned() } else { String::new() };
    format!("{date} {clock}{fraction}")
}

/// Ticks at calendar steps between two timestamps, about six.
pub(crate) fn ticks(min: f64, max: f64) -> Vec<Tick> {
    let about = (max - min) / 6.0;
    if let Some(&step) = STEPS.iter().find(|&&step| step >= about) {
        // Weeks start on Monday; 1970-01-01 was a Thursday.
        let offset = if step == 7.0 * DAY { 4.0 * DAY } else { 0.0 };
        let first = ((min - offset) / step).ceil();
        let last = ((max - offset) / step).floor();
        let count = (last - first).max(0.0) as usize;
        let timestamps = (0..=count).map(|i| offset + (first + i as f64) * step).filter(|t| (min..=max).contains(t));
        return timestamps.map(|timestamp| (timestamp, short(timestamp, step))).collect();
    }
    let days = |seconds: f64| (seconds / DAY) as i64;
    let months = about / (30.4 * DAY);
    let step = MONTHS.into_iter().find(|&step| step as f64 >= months).unwrap_or_else(|| {
        let years = round_step(months / 12.0);
        12 * years as i64
    });
    let (year, month, _) = date(days(min));
    let first = (year * 12 + month - 1).div_euclid(step) * step;
    let timestamps = (0..40).map(|i| first + i * step).map(|month| {
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        let name = if step % 12 == 0 { year.to_string() } else { format!("{year:04}-{month:02}") };
        (first_of_month(year, month) as f64 * DAY, name)
    });
    timestamps.filter(|(timestamp, _)| (min..=max).contains(timestamp)).collect()
}

fn short(timestamp: f64, step: f64) -> String {
    let text = full(timestamp);
    if step >= DAY {
        return text;
    }
    match text.split_once(' ') {
        Some((_, clock)) if step >= 60.0 => clock[..5].to_owned(),
        Some((_, clock)) => clock.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_their_dates() {
        // By `date -u -d @...`.
        assert_eq!(full(0.0), "1970-01-01");
        assert_eq!(full(951_782_400.0), "2000-02-29");
        assert_eq!(full(-1.0), "1969-12-31 23:59:59");
        assert_eq!(full(1_700_000_000.5), "2023-11-14 22:13:20.500000");
        for days in (-1_000_000..1_000_000).step_by(997) {
            let (year, month, day) = date(days);
            assert_eq!(first_of_month(year, month) + day - 1, days);
        }
    }

    #[test]
    fn ticks_stand_at_calendar_steps() {
        let names = |min: f64, max: f64| -> Vec<String> { ticks(min, max).into_iter().map(|(_, name)| name).collect() };
        assert_eq!(names(0.0, 5.0 * 31_557_600.0), ["1970", "1971", "1972", "1973", "1974", "1975"]);
        assert_eq!(names(0.0, 200.0 * DAY).last().map(String::as_str), Some("1970-07"));
        assert_eq!(names(DAY, 2.0 * DAY), ["1970-01-02", "06:00", "12:00", "18:00", "1970-01-03"]);
    }
}
