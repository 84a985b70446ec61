//! Texts on their way to integers and timestamps: `'2.5'::int` is 3 and `'2024-01-31 10:00'::timestamp` has no seconds, as in
//! DuckDB. DataFusion 55 takes neither.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/957> <https://github.com/apache/arrow-rs/issues/8219>
//! Shows: `SELECT '2.5'::int` gives `3`
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
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [TextForm::Integer, TextForm::Timestamp].map(|form| Arc::new(form.function()))
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
}

impl TextForm {
    /// The form of texts on their way to this type, if it is not any.
    pub(crate) fn of(to: &DataType) -> Option<Self> {
        match to {
            DataType::Timestamp(..) => Some(Self::Timestamp),
            to if to.is_integer() => Some(Self::Integer),
            _ => None,
        }
    }

    /// The text in this form; `None` if it is already.
    pub(crate) fn apply(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Integer => whole(text).map(Cow::Owned),
            Self::Timestamp => with_seconds(text).map(Cow::Owned),
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

#[cfg(test)]
mod tests {
    use super::*;

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
