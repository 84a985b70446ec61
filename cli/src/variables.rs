//! Variables of scripts, in psql's way: `:name` is the value as it stands, `:'name'` the value as a string and
//! `:"name"` the value as an identifier.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bonnet_dialect::syntax::tokens::split::{LexemeKind, Lexer, is_word};

use super::script::{MOST_TEXT, too_long};

/// Names and their values.
#[derive(Debug, Default)]
pub(super) struct Variables {
    values: BTreeMap<String, String>,
}

/// A variable whose value cannot be put into a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreplaced {
    pub(super) name: String,
    /// The byte of the text at which it stands.
    pub(super) offset: usize,
    pub(super) why: Why,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Nobody has set it.
    Unset,
    /// The text would be longer than a statement may be.
    TooLong,
}

impl Unreplaced {
    pub(super) fn message(&self) -> String {
        let name = &self.name;
        match self.why {
            Why::Unset => {
                format!("variable `{name}` is not set: give it with `-v {name}=value` or `\\set {name} value`")
            }
            Why::TooLong => format!("with the value of `{name}` this is {}", too_long()),
        }
    }
}

impl Variables {
    /// Sets a variable. A name is a letter or `_`, then letters, digits or `_`.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if !is_name(name) {
            return Err(format!("`{name}` is no name of a variable: use letters, digits and `_`, no digit first"));
        }
        self.values.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Forgets a variable; one that is not set is no error.
    pub(super) fn unset(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// The variables by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Puts the values into a statement: on tokens alone, never inside strings, quoted identifiers, comments, `::`,
    /// `:=`, brackets (`list[1:n]`) or braces (`{key:value}`). Values are not read again.
    pub(super) fn substitute<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, Unreplaced> {
        if !text.contains(':') {
            return Ok(Cow::Borrowed(text));
        }
        let lexemes: Vec<_> = Lexer::new(text).collect();
        let mut result = String::with_capacity(text.len());
        let mut depth = 0_usize;
        let mut i = 0;
        while i < lexemes.len() {
            let lexeme = lexemes[i];
            i += 1;
            if lexeme.kind == LexemeKind::Symbol {
                match lexeme.text {
                    "[" | "{" => depth += 1,
                    "]" | "}" => depth = depth.saturating_sub(1),
                    ":" if lexemes.get(i).is_some_and(|next| next.text == ":") => {
                        result.push_str("::");
                        i += 1;
                        continue;
                    }
                    ":" if depth == 0 => {
                        if let Some((name, quote)) = lexemes.get(i).and_then(|next| reference(next.kind, next.text)) {
                            let fail = |why| Unreplaced { name: name.to_owned(), offset: lexeme.start, why };
                            let value = self.values.get(name).ok_or_else(|| fail(Why::Unset))?;
                            push_quoted(&mut result, value, quote);
                            if result.len() > MOST_TEXT {
                                return Err(fail(Why::TooLong));
                            }
                            i += 1;
                            continue;
                        }
                    }
                    _ => {}
                }
            }
            result.push_str(lexeme.text);
        }
        Ok(Cow::Owned(result))
    }
}

/// The name that stands after a colon, and the quote in which the value is wanted.
fn reference(kind: LexemeKind, text: &str) -> Option<(&str, Option<char>)> {
    match kind {
        LexemeKind::Word if is_name(text) => Some((text, None)),
        LexemeKind::Text => Some((text.strip_prefix('\'')?.strip_suffix('\'')?, Some('\''))),
        LexemeKind::QuotedIdentifier => Some((text.strip_prefix('"')?.strip_suffix('"')?, Some('"'))),
        _ => None,
    }
    .filter(|(name, _)| is_name(name))
}

fn push_quoted(result: &mut String, value: &str, quote: Option<char>) {
    let Some(quote) = quote else {
        result.push_str(value);
        return;
    };
    result.push(quote);
    for c in value.chars() {
        if c == quote {
            result.push(quote);
        }
        result.push(c);
    }
    result.push(quote);
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word) && !text.starts_with(char::is_numeric)
}

/// Reads `name=value`.
pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as name=value")?;
    Variables::default().set(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let mut variables = Variables::default();
        for (name, value) in [("n", "3"), ("who", "O'Hara"), ("column", "a \"b\""), ("b", "wrong")] {
            variables.set(name, value).unwrap();
        }
        variables
    }

    fn substitute(text: &str) -> String {
        variables().substitute(text).unwrap().into_owned()
    }

    #[test]
    fn a_value_goes_in_plain_as_a_string_or_as_an_identifier() {
        assert_eq!(substitute("SELECT :n + 1 FROM t LIMIT :n"), "SELECT 3 + 1 FROM t LIMIT 3");
        assert_eq!(substitute("SELECT :'who', f(:n)"), "SELECT 'O''Hara', f(3)");
        assert_eq!(substitute("SELECT :\"column\""), "SELECT \"a \"\"b\"\"\"");
        assert_eq!(substitute("\"s\".:n"), "\"s\".3");
    }

    #[test]
    fn nothing_changes_where_a_colon_means_something_else() {
        for text in [
            "SELECT ':n', \":n\", $$:n$$, E'\\':n'",
            "SELECT 1 -- :n",
            "SELECT /* :n /* :n */ :n */ 1",
            "SELECT a::b, a ::b, a:: b",
            "SELECT list[1:n], list[f(:n)], x[y[:n]:n]",
            "SELECT {'a':n, b:n}, MAP {1:n}",
            "x := 3, :: n, a:1, b : n, :'not a name'",
        ] {
            assert_eq!(substitute(text), text);
        }
    }

    #[test]
    fn a_cast_after_a_variable_is_a_cast() {
        assert_eq!(substitute("SELECT :n::b"), "SELECT 3::b");
    }

    #[test]
    fn what_follows_a_closed_bracket_is_code_again() {
        assert_eq!(substitute("x[1:n] + :n, {'a':n}, :n"), "x[1:n] + 3, {'a':n}, 3");
    }

    #[test]
    fn a_variable_that_is_not_set_is_an_error() {
        let undefined = variables().substitute("SELECT :n, :m").unwrap_err();
        assert_eq!(undefined, Unreplaced { name: "m".into(), offset: 11, why: Why::Unset });
        assert!(undefined.message().contains("`m` is not set"));
        assert!(variables().substitute("SELECT :'m'").is_err());
        assert!(variables().substitute("SELECT :\"m\"").is_err());
    }

    #[test]
    fn a_value_is_not_read_again() {
        let mut variables = Variables::default();
        variables.set("a", ":a").unwrap();
        assert_eq!(variables.substitute("SELECT :a").unwrap(), "SELECT :a");
    }

    #[test]
    fn a_text_that_grows_beyond_a_statement_is_an_error() {
        let mut variables = Variables::default();
        variables.set("a", &" ".repeat(MOST_TEXT / 2 + 1)).unwrap();
        let error = variables.substitute(":a:a").unwrap_err();
        assert_eq!((error.offset, &error.why), (2, &Why::TooLong));
        assert!(error.message().contains("more than 128 MB"), "{}", error.message());
    }

    #[test]
    fn a_bad_name_is_refused() {
        for name in ["", "1a", "a b", "a-b"] {
            assert!(Variables::default().set(name, "x").is_err(), "{name}");
        }
    }
}
