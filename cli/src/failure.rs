//! Failures of scripts and of the prompt, with their places.

use std::io;

use super::script::Item;
use super::width::width;

/// The place of an error in its statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// The line with a mark under the place, if the statement is known.
    excerpt: Option<String>,
}

/// The reason why the rest of a script is not run.
#[derive(Debug)]
pub(super) enum ScriptFailure {
    /// An error, and its place in its statement, if that is known.
    Error(String, Option<Position>),
    /// An error whose text has its place.
    Located(String),
    /// Ctrl-C.
    Interrupted,
    /// The reader of the rows has closed the pipe.
    Closed,
}

impl ScriptFailure {
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self::Error(text.into(), None)
    }

    /// The error at this line and column of a text.
    pub(super) fn in_text(error: String, text: &str, line: usize, column: usize) -> Self {
        Self::Error(error, Some(Position { line, column, excerpt: excerpt(text, line, column) }))
    }

    /// The error with the line of this statement in which it stands.
    pub(super) fn in_statement(self, statement: &str) -> Self {
        match self {
            Self::Error(text, Some(place)) => {
                let excerpt = excerpt(statement, place.line, place.column);
                Self::Error(text, Some(Position { excerpt, ..place }))
            }
            other => other,
        }
    }

    /// The error as the prompt shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Error(text, place) => {
                let excerpt = place.as_ref().and_then(|place| place.excerpt.as_deref());
                format!("error: {text}{}", excerpt.unwrap_or_default())
            }
            Self::Located(text) => text.clone(),
            Self::Interrupted | Self::Closed => "Stopped.".to_owned(),
        }
    }

    /// The error with the place of its item before it.
    pub(super) fn at(self, origin: &str, item: &Item) -> Self {
        match self {
            Self::Error(text, None) => Self::Located(format!("{origin}:{}: {text}", item.line)),
            Self::Error(text, Some(Position { line, column, excerpt })) => {
                let column = if line == 1 { column + item.column - 1 } else { column };
                let line = item.line + line - 1;
                let excerpt = excerpt.unwrap_or_default();
                Self::Located(format!("{origin}:{line}: {}{excerpt}", with_position(&text, line, column)))
            }
            other => other,
        }
    }
}

impl From<io::Error> for ScriptFailure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::error(error.to_string()) }
    }
}

impl From<bonnetdb::Error> for ScriptFailure {
    fn from(error: bonnetdb::Error) -> Self {
        let text = error.to_string();
        let place = error.place().map(|place| (place.line as usize, place.column as usize));
        // The parser's own words have it.
        let place = place.or_else(|| position(&text).map(|(_, line, column)| (line, column)));
        Self::Error(text, place.map(|(line, column)| Position { line, column, excerpt: None }))
    }
}

/// The parser's `Line: 1, Column: 8` in an error's text: the byte at which it starts, the line and the column.
fn position(text: &str) -> Option<(usize, usize, usize)> {
    let start = text.rfind("Line: ")?;
    let rest = &text[start + "Line: ".len()..];
    let (line, rest) = rest.split_once(", Column: ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (line, column) = (line.parse().ok()?, rest[..digits].parse().ok()?);
    (line > 0).then_some((start, line, column))
}

/// The characters of a line that are shown before and behind the place of an error.
const AROUND: usize = 60;

/// This line of a statement, from 1, with a mark under its character `column`, from 1, each on a line of its own; of a long
/// line what stands around the place. `None` where there is nothing to mark.
fn excerpt(statement: &str, line: usize, column: usize) -> Option<String> {
    let line = statement.lines().nth(line.checked_sub(1)?)?;
    let at = column.checked_sub(1)?;
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let characters: Vec<char> = line.chars().map(shown).collect();
    if at > characters.len() || line.trim().is_empty() {
        return None;
    }
    let (from, to) = (at.saturating_sub(AROUND), characters.len().min(at + AROUND));
    let text: String = characters[from..to].iter().collect();
    let before: String = characters[from..at].iter().collect();
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < characters.len() { "…" } else { "" });
    let indent = " ".repeat(width(head) + width(&before));
    Some(format!("\n  {head}{}{tail}\n  {indent}^", text.trim_end()))
}

/// The text with the parser's position, which counts from the start of the statement, counted from that of the script.
fn with_position(text: &str, line: usize, column: usize) -> String {
    match position(text) {
        Some((start, in_statement, column_there)) => {
            let length = format!("Line: {in_statement}, Column: {column_there}").len();
            format!("{}Line: {line}, Column: {column}{}", &text[..start], &text[start + length..])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::Task;
    use super::*;

    #[test]
    fn the_position_of_an_error_counts_from_the_start_of_the_script() {
        let item = Item { task: Task::Statement("SELECT\n 1 FRM".into()), line: 10, column: 5 };
        let located = |line, column| {
            let text = format!("Expected: end, found: FRM at Line: {line}, Column: {column}!");
            match ScriptFailure::from(bonnetdb::Error::statement(text)).at("a.sql", &item) {
                ScriptFailure::Located(text) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(located(2, 4), "a.sql:11: Expected: end, found: FRM at Line: 11, Column: 4!");
        assert_eq!(located(1, 8), "a.sql:10: Expected: end, found: FRM at Line: 10, Column: 12!");
    }

    #[test]
    fn a_mark_stands_under_the_place_of_an_error() {
        assert_eq!(excerpt("SELECT\n 1 FRM t", 2, 4).as_deref(), Some("\n   1 FRM t\n     ^"));
        assert_eq!(excerpt("SELECT '日本' FRM", 1, 13).as_deref(), Some("\n  SELECT '日本' FRM\n                ^"));
        assert_eq!(excerpt("a\tb c", 1, 4).as_deref(), Some("\n  a b c\n     ^"));
        // Behind the last character, where something is missing.
        assert_eq!(excerpt("SELECT (1", 1, 10).as_deref(), Some("\n  SELECT (1\n           ^"));
        let long = format!("SELECT {}, nothing, {}", "a".repeat(200), "b".repeat(200));
        let text = excerpt(&long, 1, 210).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines[0].starts_with("  …aaa") && lines[0].ends_with("bbb…"), "{text}");
        let at = lines[1].chars().count() - 1;
        assert!(lines[0].chars().skip(at).collect::<String>().starts_with("nothing"), "{text}");
        for (line, column) in [(0, 1), (1, 0), (2, 1), (1, 11)] {
            assert_eq!(excerpt("SELECT (1", line, column), None);
        }
    }

    #[test]
    fn an_error_without_a_position_stands_where_its_statement_starts() {
        let item = Item { task: Task::Statement("SELECT x".into()), line: 3, column: 1 };
        for text in ["no column x", "Line: here", "Line: 1, Column", "Line: 0, Column: 0"] {
            match ScriptFailure::from(bonnetdb::Error::statement(text)).at("a.sql", &item) {
                ScriptFailure::Located(located) => assert_eq!(located, format!("a.sql:3: {text}")),
                other => panic!("{other:?}"),
            }
        }
    }
}
