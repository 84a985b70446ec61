//! The cells of a result as a reader sees them.

use std::io;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float32Type, Float64Type};
use arrow::util::display::{ArrayFormatter, DurationFormat, FormatOptions};

/// The options in which values are shown to a reader (not to a program).
pub fn readable() -> FormatOptions<'static> {
    FormatOptions::new()
        .with_null("NULL")
        .with_display_error(true)
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_duration_format(DurationFormat::Pretty)
}

/// A value as text.
pub struct Cell<'a> {
    /// As it is shown: control characters are escaped, and a number may be shortened.
    pub text: &'a str,
    /// With all digits.
    pub whole: &'a str,
    /// Whether the value is NULL.
    pub is_null: bool,
    /// The place of the decimal point, of a number that was shortened for a screen, or would have been.
    pub point: Option<usize>,
}

impl<'a> Cell<'a> {
    /// A text that is no value.
    pub fn text(text: &'a str) -> Self {
        Self { text, whole: text, is_null: false, point: None }
    }
}

/// Calls back for each cell, row by row, with the column's place. `digits` is how many digits behind the point a number
/// shows; `None` shows all that tell it from its neighbours.
///
/// # Errors
/// If a value cannot be shown, and those of `call`.
pub fn each_cell(
    batch: &RecordBatch,
    digits: Option<usize>,
    mut call: impl FnMut(usize, Cell<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let options = readable();
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).map(|formatter| (column, formatter)))
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)?;
    let (mut value, mut text) = (String::new(), String::new());
    for row in 0..batch.num_rows() {
        for (i, (array, formatter)) in columns.iter().enumerate() {
            value.clear();
            text.clear();
            formatter.value(row).write(&mut value).map_err(io::Error::other)?;
            push_escaped(&mut text, &value);
            // An array of the type NULL holds no marks of its own.
            let is_null = array.is_null(row) || array.data_type().is_null();
            let mut point = None;
            if let (Some(digits), Some(number), false) = (digits, float(array, row), is_null) {
                if let Some(short) = shortened(number, &text, digits) {
                    text = short;
                }
                point = text.find('.').filter(|_| !text.contains('e'));
            }
            call(i, Cell { text: &text, whole: &value, is_null, point })?;
        }
    }
    Ok(())
}

fn float(array: &dyn Array, row: usize) -> Option<f64> {
    if let Some(array) = array.as_primitive_opt::<Float64Type>() {
        return Some(array.value(row));
    }
    array.as_primitive_opt::<Float32Type>().map(|array| f64::from(array.value(row)))
}

/// A number rounded to so many digits behind the point, or of the first digit where it is far from 1; `None` where its
/// whole text is as short.
fn shortened(value: f64, text: &str, digits: usize) -> Option<String> {
    let magnitude = value.abs();
    if !value.is_finite() || value == 0.0 {
        return None;
    }
    // Below, fewer than two digits of the value would be seen behind the point.
    let least = 10_f64.powi((2 - i32::try_from(digits).unwrap_or(i32::MAX)).min(-1));
    let short = if (least..1e15).contains(&magnitude) {
        let fixed = format!("{value:.digits$}");
        let cut = if fixed.contains('.') { fixed.trim_end_matches('0') } else { &fixed };
        if cut.ends_with('.') { format!("{cut}0") } else { cut.to_owned() }
    } else {
        let scientific = format!("{value:.digits$e}");
        let (mantissa, exponent) = scientific.split_once('e')?;
        let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0') } else { mantissa };
        format!("{}e{exponent}", mantissa.trim_end_matches('.'))
    };
    (short.len() < text.len()).then_some(short)
}

/// Appends a text with its control characters made visible: they would break the lines or drive the terminal.
pub fn push_escaped(to: &mut String, text: &str) {
    // Those of ASCII, and the first byte of all others.
    let may_have_one = text.bytes().any(|byte| byte.is_ascii_control() || byte == 0xc2);
    if !may_have_one || !text.contains(char::is_control) {
        to.push_str(text);
        return;
    }
    for c in text.chars() {
        if c.is_control() { to.extend(c.escape_default()) } else { to.push(c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shortened_where_that_saves_digits() {
        let short = |value: f64| shortened(value, &value.to_string(), 6);
        assert_eq!(short(0.1 + 0.2).as_deref(), Some("0.3"));
        assert_eq!(short(-2.0 / 3.0).as_deref(), Some("-0.666667"));
        assert_eq!(short(1e6 / 3.0).as_deref(), Some("333333.333333"));
        assert_eq!(short(0.999_999_999_9).as_deref(), Some("1.0"));
        assert_eq!(short(1.0 / 30_000.0).as_deref(), Some("3.333333e-5"));
        assert_eq!(short(1.234_567_891e30).as_deref(), Some("1.234568e30"));
        for exact in [0.5, 0.0, -0.0, 12.25, f64::NAN, f64::INFINITY, 123_456.5] {
            assert_eq!(short(exact), None, "{exact}");
        }
        assert_eq!(shortened(0.05, "0.05", 1), None);
        assert_eq!(shortened(0.125, "0.125", 1).as_deref(), Some("0.1"));
        assert_eq!(shortened(1234.5678, "1234.5678", 1).as_deref(), Some("1234.6"));
    }
}
