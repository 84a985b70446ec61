//! Texts on their way to integers, timestamps and intervals: `'2.5'::int` is 3 and `'2024-01-31 10:00'::timestamp` has no
//! seconds, as in DuckDB; a text may have a time of day, and a number without a unit is one of seconds, as in PostgreSQL.
//! DataFusion 55 takes none of the first, and counts months for the last: `'1 day 2'::interval` was two months and a day.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/957> <https://github.com/apache/arrow-rs/issues/8219>
//! Shows: `SELECT '2.5'::int` gives `3`
//! Shows: `SELECT x::interval = INTERVAL '26 hours 3 minutes 4 seconds' FROM (VALUES ('1 day 02:03:04'), ('1 day 7384')) AS t(x)` gives `true / true`
//! Shows: `SELECT '2024-01-31 10:00'::timestamp = TIMESTAMP '2024-01-31 10:00:00'` gives `true`

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarUDF};

use crate::same_type_function::{Kernel, by_column};
use crate::strings::concatenation::is_text;

/// The functions, which plans refer to by name.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 3] {
    [TextForm::Integer, TextForm::Timestamp, TextForm::Interval].map(|form| Arc::new(form.function()))
}

/// A text in the form that DataFusion casts to this type; `None` for a type that it casts texts to by itself.
pub(crate) fn castable(text: &Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    let form = TextForm::of(to).filter(|_| is_text(from))?;
    Some(form.function().call(vec![text.clone()]))
}

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextForm {
    /// A whole number: a number that is none is rounded half away from zero.
    Integer,
    /// A time with seconds.
    Timestamp,
    /// Numbers with their units: a time of day, and seconds.
    Interval,
}

impl TextForm {
    /// The form of texts on their way to this type, if it is not any.
    pub(crate) fn of(to: &DataType) -> Option<Self> {
        match to {
            DataType::Timestamp(..) => Some(Self::Timestamp),
            DataType::Interval(_) => Some(Self::Interval),
            to if to.is_integer() => Some(Self::Integer),
            _ => None,
        }
    }

    /// The text in this form; `None` if it is already.
    pub(crate) fn apply(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Integer => whole(text).map(Cow::Owned),
            Self::Timestamp => with_seconds(text).map(Cow::Owned),
            Self::Interval => with_units(text).map(Cow::Owned),
        }
    }

    fn column(self, texts: &ArrayRef) -> Result<ArrayRef> {
        let plain = cast(texts, &DataType::Utf8)?;
        let plain = plain.as_string::<i32>();
        // Nearly always there is nothing to do.
        if plain.iter().flatten().all(|text| self.apply(text).is_none()) {
            return Ok(Arc::clone(texts));
        }
        let forms: StringArray =
            plain.iter().map(|text| text.map(|text| self.apply(text).unwrap_or(Cow::Borrowed(text)))).collect();
        Ok(cast(&forms, texts.data_type())?)
    }
}

impl Kernel for TextForm {
    fn name(&self) -> &str {
        match self {
            Self::Integer => "text_of_integer",
            Self::Timestamp => "text_of_timestamp",
            Self::Interval => "text_of_interval",
        }
    }

    fn column_name(arg: &Expr) -> String {
        arg.schema_name().to_string()
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn evaluate(&self, arg: &ColumnarValue, _: usize) -> Result<ColumnarValue> {
        by_column(arg, |texts| self.column(texts))
    }
}

/// The digits of the nearest integer; `None` for an integer, and for what is no number.
fn whole(text: &str) -> Option<String> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return None;
    }
    let number = text.trim();
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number.strip_prefix('+').unwrap_or(number)),
    };
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits.contains(['e', 'E']) {
        let value = digits.parse::<f64>().ok().filter(|value| *value < 2f64.powi(53))?;
        return Some(format!("{sign}{}", value.round()));
    }
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !are_digits(integer) || !are_digits(fraction) || integer.len() + fraction.len() == 0 {
        return None;
    }
    let integer = if integer.is_empty() { "0" } else { integer };
    match fraction.starts_with(['5', '6', '7', '8', '9']) {
        true => Some(format!("{sign}{}", integer.parse::<u128>().ok()?.checked_add(1)?)),
        false => Some(format!("{sign}{integer}")),
    }
}

/// The text with seconds; `None` if it has them, or no time.
fn with_seconds(text: &str) -> Option<String> {
    let (start, rest) = text.split_at_checked("2024-01-31 10:00".len())?;
    let bytes = start.as_bytes();
    let is_time = matches!(bytes[10], b' ' | b'T')
        && bytes[13] == b':'
        && [11, 12, 14, 15].iter().all(|at| bytes[*at].is_ascii_digit());
    let is_end = rest.is_empty() || rest.starts_with(['+', '-', 'Z', 'z', ' ']);
    (is_time && is_end).then(|| format!("{start}:00{rest}"))
}

/// The text with units for a time of day, or a number, that is its last word; `None` if that is neither.
pub fn with_units(text: &str) -> Option<String> {
    let text = text.trim();
    let (before, last) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
    let before = if before.is_empty() { String::new() } else { format!("{before} ") };
    let (sign, digits) = match last.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", last.strip_prefix('+').unwrap_or(last)),
    };
    let is_whole = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |part: &str| match part.split_once('.') {
        Some((whole, fraction)) => is_whole(whole) && is_whole(fraction),
        None => is_whole(part),
    };
    if is_number(digits) {
        return Some(format!("{before}{sign}{digits} seconds"));
    }
    let mut parts = digits.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let fraction = seconds.split_once('.').map_or(seconds, |(whole, _)| whole);
    let below_60 = |part: &str| part.parse::<u8>().is_ok_and(|value| value < 60);
    let is_time = is_whole(hours) && below_60(minutes) && below_60(fraction) && parts.next().is_none();
    is_time.then(|| format!("{before}{sign}{hours} hours {sign}{minutes} minutes {sign}{seconds} seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_an_interval_may_be_a_time_or_seconds() {
        for (text, expected) in [
            ("04:05:06", Some("04 hours 05 minutes 06 seconds")),
            (" 1 day -04:05 ", Some("1 day -04 hours -05 minutes -0 seconds")),
            ("1 year 2 months 12:00:01.5", Some("1 year 2 months 12 hours 00 minutes 01.5 seconds")),
            ("7", Some("7 seconds")),
            ("1 day -2.5", Some("1 day -2.5 seconds")),
            ("1 day", None),
            ("1:2:3:4", None),
            ("1:99", None),
            ("", None),
        ] {
            assert_eq!(with_units(text).as_deref(), expected, "{text}");
        }
    }

    // As DuckDB 2.0 answers.
    #[test]
    fn numbers_round_half_away_from_zero() {
        for (text, expected) in [
            ("2.5", Some("3")),
            ("-2.5", Some("-3")),
            (" 2.4 ", Some("2")),
            (".5", Some("1")),
            ("5.", Some("5")),
            ("2.5e1", Some("25")),
            ("9007199254740993.5", Some("9007199254740994")),
            ("12", None),
            ("-12", None),
            ("abc", None),
            ("1.2.3", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(whole(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_time_without_seconds_gets_them() {
        for (text, expected) in [
            ("2024-01-31 10:00", Some("2024-01-31 10:00:00")),
            ("2024-01-31T10:00Z", Some("2024-01-31T10:00:00Z")),
            ("2024-01-31 10:00+02", Some("2024-01-31 10:00:00+02")),
            ("2024-01-31 10:00:00", None),
            ("2024-01-31 10", None),
            ("2024-01-31", None),
            ("2024-01-31 1é:00", None),
        ] {
            assert_eq!(with_seconds(text).as_deref(), expected, "{text}");
        }
    }
}
