//! Formats of times that leave parts out, as in DuckDB: `strptime('2024-05', '%Y-%m')` is the first of May, and `'%H:%M'` a time
//! on the first of January 1900. DataFusion refuses both.
//!
//! Upstream: none known
//! Shows: `SELECT strptime('2024-05', '%Y-%m') = TIMESTAMP '2024-05-01', strptime('10:30', '%H:%M') = TIMESTAMP '1900-01-01 10:30:00'` gives `true | true`

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};

use crate::syntax::tree::ast::{binary, nested, text as literal};

/// The text and its format, which is a constant, with the parts that the format leaves out behind them.
pub(crate) fn completed(text: Expr, format: Expr) -> (Expr, Expr) {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(written), .. }) = &format else {
        return (text, format);
    };
    match missing(written) {
        Some((values, codes)) => {
            let whole = binary(nested(text), BinaryOperator::StringConcat, literal(values));
            (nested(whole), literal(format!("{written}{codes}")))
        }
        None => (text, format),
    }
}

/// The parts that a format lacks, as a text and as codes; `None` if it lacks none, or says the day in another way.
fn missing(format: &str) -> Option<(String, String)> {
    let mut codes = Vec::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c == '%' {
            // Signs between the percent and the code say how digits are padded.
            codes.extend(
                chars.by_ref().find(|code| !matches!(code, '-' | '_' | '0' | '.' | '3' | '6' | '9' | ':' | '#')),
            );
        }
    }
    let has = |any: &str| codes.iter().any(|code| any.contains(*code));
    // An instant, a week and a day of the year say the day in another way.
    if codes.iter().all(|code| *code == '%') || has("sc+gGUWVj") {
        return None;
    }
    let parts = [
        (has("YyCFDxv"), "1900", "%Y"),
        (has("mbBhFDxv"), "01", "%m"),
        (has("deFDxv"), "01", "%d"),
        (!has("M") || has("HkIl"), "00", "%H"),
        (!has("HkIl") || has("M"), "00", "%M"),
    ];
    let lacking: Vec<_> = parts.iter().filter(|(there, ..)| !there).collect();
    let joined = |of: fn(&(bool, &'static str, &'static str)) -> &'static str| -> String {
        lacking.iter().map(|part| format!(" {}", of(part))).collect()
    };
    (!lacking.is_empty()).then(|| (joined(|part| part.1), joined(|part| part.2)))
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn parts_that_a_format_leaves_out_stand_behind_it() {
        for (format, expected) in [
            ("%Y", Some((" 01 01", " %m %d"))),
            ("%Y-%m", Some((" 01", " %d"))),
            ("%m/%Y", Some((" 01", " %d"))),
            ("%d %b", Some((" 1900", " %Y"))),
            ("%H:%M", Some((" 1900 01 01", " %Y %m %d"))),
            ("%Y-%m-%d %H", Some((" 00", " %M"))),
            ("%-d.%-m.%Y", None),
            ("%Y-%m-%d", None),
            ("%Y-%m-%d %H:%M:%S.%f", None),
            ("%F %T", None),
            ("%Y-%j", None),
            ("%G-%V-%u", None),
            ("%s", None),
            ("100%%", None),
        ] {
            let expected = expected.map(|(values, codes)| (values.to_owned(), codes.to_owned()));
            assert_eq!(missing(format), expected, "{format}");
        }
    }
}
