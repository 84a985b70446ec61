//! Names of types in the texts of errors: SQL's in place of Arrow's, which DataFusion prints.

use arrow::datatypes::DataType;

use crate::errors::capital_words::replace_words;
use crate::sql_type;

/// Arrow's names that are words of plain texts, too.
const WORDS: [&str; 2] = ["Binary", "Null"];

/// The text with `BIGINT` for `Int64`, `DOUBLE[]` for `List(Float64)`, and so on; what stands in quotes is a user's.
pub fn with_sql_types(text: &str) -> String {
    replace_words(text, |word| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '"' | '.' | '`');
        if word.before.ends_with(is_part) {
            return None;
        }
        let (data_type, length) = data_type(word.from, word.length)?;
        Some((sql_type(&data_type), length))
    })
}

/// The type that a text begins with, with its arguments in parentheses where it has some, and the length of its name.
fn data_type(text: &str, word: usize) -> Option<(DataType, usize)> {
    let arguments = text[word..].strip_prefix('(').and_then(|_| {
        let mut depth = 0;
        text[word..].char_indices().find_map(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(word + at + 1)
        })
    });
    // `Int64(1)` is a constant.
    let length = if text[word..].starts_with('(') { arguments? } else { word };
    let name = &text[..length];
    if WORDS.contains(&name) { None } else { Some((name.parse().ok()?, length)) }
}

#[cfg(test)]
mod tests {
    use super::with_sql_types;

    #[test]
    fn types_are_those_of_sql_and_the_words_of_a_user_stay() {
        for (text, expected) in [
            ("x is Utf8View, expected Float64", "x is VARCHAR, expected DOUBLE"),
            ("argument types 'substr(Float64, Boolean)'.", "argument types 'substr(DOUBLE, BOOLEAN)'."),
            ("from List(Int64) to Decimal128(5, 2)", "from BIGINT[] to DECIMAL(5,2)"),
            ("of Timestamp(ns) and Timestamp(Microsecond, None)", "of TIMESTAMP and TIMESTAMP(6)"),
            ("Interval(MonthDayNano) + Date32", "INTERVAL + DATE"),
            ("no column \"Int64\" or t.Utf8 or 'Float64'", "no column \"Int64\" or t.Utf8 or 'Float64'"),
            ("Binary operator, Null, MyInt64, Int64s, Int64_", "Binary operator, Null, MyInt64, Int64s, Int64_"),
            ("Exactly(Int64, List(", "Exactly(BIGINT, List("),
            ("count(Int64(1)) of Utf8(\"Int64\")", "count(Int64(1)) of Utf8(\"Int64\")"),
            ("Größe Int32", "Größe INTEGER"),
        ] {
            assert_eq!(with_sql_types(text), expected);
        }
    }
}
