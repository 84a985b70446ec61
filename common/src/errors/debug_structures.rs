//! Structures of Rust in the texts of errors, which say nothing to a user.

use crate::errors::capital_words::replace_words;

/// The text with `...` for each structure that was printed by `Debug`: `Column { name: "a" }`, `Some(Value(Number { ... }))`.
pub fn without_structures(text: &str) -> String {
    replace_words(text, |word| {
        let length = structure(&word.from[word.length..])?;
        (!word.before.ends_with(char::is_alphanumeric)).then(|| ("...".to_owned(), word.length + length))
    })
}

/// The length of the brackets with fields that a text begins with; all of it where they are cut off.
fn structure(text: &str) -> Option<usize> {
    let opens = text.starts_with('(') || text.starts_with(" { ");
    if !opens {
        return None;
    }
    let mut depth = 0;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            end = at + c.len_utf8();
            break;
        }
    }
    let inner = &text[..end];
    // Fields have names in lower case before a colon.
    let has_fields = inner.match_indices(" { ").any(|(at, _)| {
        let field = &inner[at + 3..];
        let name = field.len() - field.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_').len();
        name > 0 && field[name..].starts_with(": ")
    });
    has_fields.then_some(end)
}

#[cfg(test)]
mod tests {
    use super::without_structures;

    #[test]
    fn structures_go_and_the_text_of_a_user_stays() {
        for (text, expected) in [
            (
                r#"Argument #2 must be an INTEGER or NULL, got Column(Column { relation: Some(Bare { table: "e" }), name: "id" })"#,
                "Argument #2 must be an INTEGER or NULL, got ...",
            ),
            (
                "INTERVAL expression cannot be Value(ValueWithSpan { value: Number(\"1\", false) })",
                "INTERVAL expression cannot be ...",
            ),
            ("gap: ParsedLogPath { location: FileMeta { size: 1 } } is missing", "gap: ... is missing"),
            ("cut: Collate { expr: Identifier(Ident", "cut: ..."),
            ("no function f(Int64, List(Int64)) and {\"a\": 1}", "no function f(Int64, List(Int64)) and {\"a\": 1}"),
            (
                "Struct(\"a\": Int64) is no DATE (Line: 1, Column: 2)",
                "Struct(\"a\": Int64) is no DATE (Line: 1, Column: 2)",
            ),
            ("Äpfel { gut: 1 } B { x", "Äpfel { gut: 1 } B { x"),
        ] {
            assert_eq!(without_structures(text), expected);
        }
    }
}
