//! Timestamps on an axis, in the proleptic Gregorian calendar and UTC.

use chrono::{Datelike, NaiveDate};

use crate::tick::{Tick, round_step};

const DAY: f64 = 86_400.0;

/// Steps shorter than a month, in seconds.
const STEPS: [f64; 13] =
    [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 10_800.0, 21_600.0, 43_200.0, DAY, 2.0 * DAY, 7.0 * DAY];

/// Longer steps, in months.
const MONTHS: [i32; 8] = [1, 3, 6, 12, 24, 60, 120, 240];

/// The date of a number of days since 1970-01-01; `None` beyond the year 262,142.
fn date(days: i64) -> Option<NaiveDate> {
    NaiveDate::from_epoch_days(i32::try_from(days).ok()?)
}

/// The days from 1970-01-01 to the first of a month.
fn first_of_month(year: i32, month: u32) -> Option<i32> {
    NaiveDate::from_ymd_opt(year, month, 1).map(|date| date.to_epoch_days())
}

/// A timestamp with all that it says: the date, and the time of day unless that is midnight; beyond the calendar, `@` and its
/// seconds since 1970.
pub(crate) fn full(seconds: f64) -> String {
    if !seconds.is_finite() {
        return String::new();
    }
    let days = (seconds / DAY).floor();
    let Some(date) = date(days as i64) else { return format!("@{seconds}") };
    let date = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
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
        (years as i32).saturating_mul(12)
    });
    let Some(start) = date(days(min)) else { return Vec::new() };
    let first = (start.year() * 12 + start.month0() as i32).div_euclid(step) * step;
    let months = (0..40).map_while(|i| step.checked_mul(i)?.checked_add(first));
    let timestamps = months.filter_map(|month| {
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) as u32 + 1);
        let name = if step % 12 == 0 { year.to_string() } else { format!("{year:04}-{month:02}") };
        Some((f64::from(first_of_month(year, month)?) * DAY, name))
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
        assert_eq!(full(1e15), "@1000000000000000");
        for days in (-1_000_000..1_000_000).step_by(997) {
            let date = date(days).unwrap();
            let first = first_of_month(date.year(), date.month()).unwrap();
            assert_eq!(i64::from(first) + i64::from(date.day()) - 1, days);
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
