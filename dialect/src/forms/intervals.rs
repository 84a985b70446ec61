//! Times of day in intervals, `INTERVAL '1 day 04:05:06'`: DataFusion's have units alone.
//!
//! Upstream: none known
//! Shows: `SELECT INTERVAL '1 day 04:05:06' = INTERVAL '28 hours 5 minutes 6 seconds'` gives `true`

use datafusion::sql::sqlparser::ast::{DataType, Expr, Value, ValueWithSpan};

/// Writes out the time in the text of an interval, or in a text that is cast to one.
pub(crate) fn write_out_time(expr: &mut Expr) {
    let text = match expr {
        Expr::Interval(interval) if interval.leading_field.is_none() => interval.value.as_mut(),
        Expr::Cast { expr, data_type: DataType::Interval { .. }, .. } => expr.as_mut(),
        _ => return,
    };
    if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = text
        && let Some(units) = with_units(text)
    {
        *text = units;
    }
}

/// The text with its time, which is the last word, in units; `None` if it has none.
fn with_units(text: &str) -> Option<String> {
    let text = text.trim();
    let (before, time) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
    let (sign, digits) = match time.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", time.strip_prefix('+').unwrap_or(time)),
    };
    let mut parts = digits.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let whole = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let fraction = seconds.split_once('.').map_or(seconds, |(whole, _)| whole);
    let below_60 = |part: &str| part.parse::<u8>().is_ok_and(|value| value < 60);
    let is_time = whole(hours) && below_60(minutes) && below_60(fraction) && parts.next().is_none();
    is_time.then(|| {
        let before = if before.is_empty() { String::new() } else { format!("{before} ") };
        format!("{before}{sign}{hours} hours {sign}{minutes} minutes {sign}{seconds} seconds")
    })
}

#[cfg(test)]
mod tests {
    use super::with_units;

    #[test]
    fn the_last_word_of_an_interval_may_be_a_time() {
        for (text, expected) in [
            ("04:05:06", Some("04 hours 05 minutes 06 seconds")),
            (" 1 day -04:05 ", Some("1 day -04 hours -05 minutes -0 seconds")),
            ("1 year 2 months 12:00:01.5", Some("1 year 2 months 12 hours 00 minutes 01.5 seconds")),
            ("1 day", None),
            ("1:2:3:4", None),
            ("1:99", None),
            ("", None),
        ] {
            assert_eq!(with_units(text).as_deref(), expected, "{text}");
        }
    }
}
