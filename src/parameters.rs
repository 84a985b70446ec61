//! Parameters of a statement that a program runs: `?` and `$1` by position, `:name` and `$name` by name. They are put in
//! as literals before the statement is read, so they may stand wherever a literal can: as options of functions too.

use std::collections::BTreeMap;

use crate::{Error, Result};
use bonnet_dialect::syntax::tokens::split::{Lexeme, LexemeKind, Lexer};

/// The values of a statement's parameters, each written as a literal of SQL: `7`, `'it''s'`, `DATE '2026-01-31'`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameters {
    /// For `?`, one after another, or for `$1`, `$2`, ...
    Positional(Vec<String>),
    /// For `:name` and `$name`.
    Named(BTreeMap<String, String>),
}

/// The statement with its parameters put in. Strings, quoted names and comments stay as they are, and so do casts
/// (`x::date`), slices (`list[1:n]`) and structs (`{'key':value}`).
///
/// ```
/// use bonnetdb::{Parameters, bind};
///
/// let values = Parameters::Positional(vec!["7".into(), "'a'".into()]);
/// assert_eq!(bind("SELECT ?, ? AS \"?\" -- why?", &values)?, "SELECT 7, 'a' AS \"?\" -- why?");
/// # Ok::<(), bonnetdb::Error>(())
/// ```
///
/// # Errors
/// If a parameter has no value, or a value by position no parameter.
pub fn bind(statement: &str, parameters: &Parameters) -> Result<String> {
    let lexemes: Vec<Lexeme<'_>> = Lexer::new(statement).collect();
    let mut text = String::with_capacity(statement.len());
    let (mut marks, mut highest) = (0, 0);
    let mut at = 0;
    while at < lexemes.len() {
        let lexeme = lexemes[at];
        let name = lexemes.get(at + 1).filter(|next| next.kind == LexemeKind::Word).map(|next| next.text);
        at += 1;
        let value = match (lexeme.text, parameters, name) {
            _ if lexeme.kind != LexemeKind::Symbol => None,
            ("?", Parameters::Positional(values), _) => {
                marks += 1;
                Some(values.get(marks - 1).ok_or_else(|| too_few(values.len()))?)
            }
            ("$", Parameters::Positional(values), Some(name)) => match name.parse::<usize>() {
                Ok(number) if number > 0 => {
                    at += 1;
                    highest = highest.max(number);
                    Some(values.get(number - 1).ok_or_else(|| too_few(values.len()))?)
                }
                _ => return Err(Error::statement(format!("the parameter ${name} has a name: give its value by name"))),
            },
            ("$", Parameters::Named(values), Some(name)) => {
                at += 1;
                Some(named(values, name)?)
            }
            (":", Parameters::Named(values), Some(name)) if starts_parameter(&lexemes[..at - 1]) => {
                at += 1;
                Some(named(values, name)?)
            }
            _ => None,
        };
        text.push_str(value.map_or(lexeme.text, String::as_str));
    }
    match parameters {
        Parameters::Positional(_) if marks > 0 && highest > 0 => {
            Err(Error::statement("a statement takes its parameters as ? or as $1, not both"))
        }
        Parameters::Positional(values) if values.len() != marks.max(highest) => Err(Error::statement(format!(
            "the statement has {} parameters, but {} values are given",
            marks.max(highest),
            values.len()
        ))),
        _ => Ok(text),
    }
}

fn too_few(values: usize) -> Error {
    Error::statement(format!("the statement has more parameters than the {values} values that are given"))
}

fn named<'a>(values: &'a BTreeMap<String, String>, name: &str) -> Result<&'a String> {
    values.get(name).ok_or_else(|| {
        let given: Vec<&str> = values.keys().map(String::as_str).collect();
        Error::statement(format!("there is no value for the parameter {name}; there are: {}", given.join(", ")))
    })
}

/// Whether a colon behind these lexemes starts a parameter: not in a cast, nor where it stands behind a value.
fn starts_parameter(before: &[Lexeme<'_>]) -> bool {
    before.last().is_none_or(|last| match last.kind {
        LexemeKind::Space | LexemeKind::Comment => true,
        LexemeKind::Symbol => !matches!(last.text, ":" | ")" | "]" | "}" | "?"),
        LexemeKind::Text | LexemeKind::QuotedIdentifier | LexemeKind::Word => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positional(text: &str, values: &[&str]) -> Result<String> {
        bind(text, &Parameters::Positional(values.iter().map(|&value| value.to_owned()).collect()))
    }

    fn with_n(text: &str) -> Result<String> {
        bind(text, &Parameters::Named(BTreeMap::from([("n".to_owned(), "5".to_owned())])))
    }

    #[test]
    fn positions_are_marks_or_numbers() {
        assert_eq!(positional("SELECT ?+?", &["1", "(-2)"]).unwrap(), "SELECT 1+(-2)");
        assert_eq!(positional("f($2, seed => $1, $2)", &["1", "2"]).unwrap(), "f(2, seed => 1, 2)");
        assert_eq!(positional("SELECT '?', $$?$$, \"?\" /* ? */", &[]).unwrap(), "SELECT '?', $$?$$, \"?\" /* ? */");
        for (text, values, part) in [
            ("SELECT ?", &[][..], "more parameters than the 0 values"),
            ("SELECT $2", &["1"], "more parameters than the 1 values"),
            ("SELECT ?", &["1", "2"], "1 parameters, but 2 values"),
            ("SELECT ?, $1", &["1"], "not both"),
            ("SELECT $n", &["1"], "give its value by name"),
        ] {
            let error = positional(text, values).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn names_stand_behind_colons_and_dollars_but_not_in_casts_slices_and_structs() {
        assert_eq!(with_n("SELECT :n, $n,:n::date").unwrap(), "SELECT 5, 5,5::date");
        for text in ["SELECT n::n", "SELECT l[1:n]", "SELECT {'a':n, \"b\":n}", "SELECT ':n' -- :n"] {
            assert_eq!(with_n(text).unwrap(), text);
        }
        assert!(with_n("SELECT :m").unwrap_err().to_string().contains("no value for the parameter m; there are: n"));
    }
}
