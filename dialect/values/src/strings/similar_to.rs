//! `similar_to(text, pattern [, escape])`, the function behind `text SIMILAR TO pattern`.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/22263>
//! Shows: `SELECT 'abc' SIMILAR TO 'a%', 'abc' SIMILAR TO 'b'` gives `true | false`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::compute::kernels::regexp::regexp_is_match;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

/// The registration of `similar_to`.
pub(crate) fn similar_to() -> Function {
    scalar_function("similar_to", DataType::Boolean, match_texts)
        .parameters([
            Parameter::column("text", "The text, of which all has to match."),
            Parameter::column(
                "pattern",
                "SQL's pattern: % for any characters, _ for one, and | * + ? {m,n} () [] as in regular expressions.",
            ),
            Parameter::column(
                "escape",
                "The character that takes the next one's meaning away; a backslash if left out.",
            )
            .optional(),
        ])
        .returns("BOOLEAN")
        .description("Whether a text is similar to a pattern, as in text SIMILAR TO pattern. NULL for NULL.")
        .example("SELECT 'abc' SIMILAR TO 'a(b|x)%', similar_to('abc', 'b')")
        .source("ISO/IEC 9075-2, similar predicate")
}

/// Whether each text matches its pattern.
fn match_texts(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let columns: Vec<ArrayRef> =
        columns.iter().map(|column| cast(column, &DataType::Utf8)).collect::<Result<_, _>>()?;
    let patterns = columns[1].as_string::<i32>();
    let escapes = columns[2].as_string::<i32>();
    // The pattern is nearly always a constant, and converted once.
    let mut last: Option<(&str, Option<&str>, String)> = None;
    let mut expressions = Vec::with_capacity(patterns.len());
    for row in 0..patterns.len() {
        let Some(pattern) = patterns.is_valid(row).then(|| patterns.value(row)) else {
            expressions.push(None);
            continue;
        };
        let escape = escapes.is_valid(row).then(|| escapes.value(row));
        let known = last.take().filter(|(known, by, _)| *known == pattern && *by == escape);
        let expression = match known {
            Some((.., expression)) => expression,
            None => regular_expression(pattern, escape)?,
        };
        expressions.push(Some(expression.clone()));
        last = Some((pattern, escape, expression));
    }
    let expressions: StringArray = expressions.into_iter().collect();
    let matches = regexp_is_match(columns[0].as_string::<i32>(), &expressions, None::<&StringArray>);
    Ok(Arc::new(matches.map_err(|error| execution_error(format!("SIMILAR TO: {error}")))?))
}

/// The regular expression of a pattern.
fn regular_expression(pattern: &str, escape: Option<&str>) -> Result<String> {
    let escape = match escape {
        None => Some('\\'),
        Some(text) => {
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (first, None) => first,
                _ => {
                    return Err(execution_error(format!("SIMILAR TO: the escape '{text}' is more than one character")));
                }
            }
        }
    };
    let mut regex = String::from("^(?s:");
    let mut chars = pattern.chars();
    let mut in_brackets = false;
    while let Some(c) = chars.next() {
        match c {
            c if Some(c) == escape => match chars.next() {
                Some(literal) => push_literal(&mut regex, literal),
                None => return Err(execution_error(format!("SIMILAR TO: '{pattern}' ends with its escape character"))),
            },
            ']' => {
                in_brackets = false;
                regex.push(c);
            }
            '[' if !in_brackets => {
                in_brackets = true;
                regex.push(c);
            }
            '^' | '-' if in_brackets => regex.push(c),
            '|' | '*' | '+' | '?' | '{' | '}' | '(' | ')' if !in_brackets => regex.push(c),
            '%' if !in_brackets => regex += ".*",
            '_' if !in_brackets => regex.push('.'),
            ':' if in_brackets => regex.push(c),
            c => push_literal(&mut regex, c),
        }
    }
    regex += ")$";
    Ok(regex)
}

/// Appends a character that stands for itself.
fn push_literal(regex: &mut String, c: char) {
    if !c.is_alphanumeric() && c.is_ascii() && !c.is_ascii_whitespace() && !c.is_ascii_control() {
        regex.push('\\');
    }
    regex.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_anchored_and_speaks_sql() {
        for (pattern, escape, expected) in [
            ("abc", None, "^(?s:abc)$"),
            ("a%_c", None, "^(?s:a.*.c)$"),
            ("a.c", None, "^(?s:a\\.c)$"),
            ("(a|b){2}", None, "^(?s:(a|b){2})$"),
            ("[^a-c%]+", None, "^(?s:[^a-c\\%]+)$"),
            ("100\\%", None, "^(?s:100\\%)$"),
            ("100#%", Some("#"), "^(?s:100\\%)$"),
        ] {
            assert_eq!(regular_expression(pattern, escape).unwrap(), expected, "{pattern}");
        }
        assert!(regular_expression("a\\", None).is_err());
    }
}
