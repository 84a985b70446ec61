//! Errors as PostgreSQL's clients read them: a class, a message, what to do, and the place in the statement.

use pgwire::messages::response::ErrorResponse;

use bonnetdb::Error;

/// An error on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The class of five letters (SQLSTATE).
    pub code: &'static str,
    /// The problem.
    pub message: String,
    /// The advice.
    pub hint: Option<String>,
    /// The character of the statement, from 1.
    pub position: Option<usize>,
    /// Whether the connection ends.
    pub fatal: bool,
}

impl Failure {
    /// An error of this class.
    pub(super) fn new(code: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        // Our errors say first what is wrong, then what to do.
        let (message, hint) = match text.split_once('\n').or_else(|| text.split_once("; ")) {
            Some((message, hint)) if !message.is_empty() && !hint.is_empty() => {
                (message.to_owned(), Some(hint.to_owned()))
            }
            _ => (text, None),
        };
        Self { code, message, hint, position: None, fatal: false }
    }

    /// An error that ends the connection.
    pub(super) fn fatal(code: &'static str, text: impl Into<String>) -> Self {
        Self { fatal: true, ..Self::new(code, text) }
    }

    /// The error of a statement that a client cancelled.
    pub(super) fn cancelled() -> Self {
        Self::new("57014", "canceling statement due to user request")
    }

    /// An error of the engine in a statement.
    pub(super) fn of(error: &Error, statement: &str) -> Self {
        let (text, code) = (error.to_string(), error.kind().sqlstate());
        let position = match error.place() {
            Some(place) => character(statement, place.line as usize, place.column as usize),
            None => position(&text, statement),
        };
        let text = without_place(&text);
        let apart = error.advice().and_then(|advice| Some((text.strip_suffix(advice)?.strip_suffix(": ")?, advice)));
        match apart {
            Some((message, advice)) => {
                let (message, hint) = (message.to_owned(), Some(advice.to_owned()));
                Self { code, message, hint, position, fatal: false }
            }
            None => Self { position, ..Self::new(code, text) },
        }
    }

    /// The error as a message of the protocol.
    pub(super) fn response(self) -> ErrorResponse {
        let severity = if self.fatal { "FATAL" } else { "ERROR" }.to_owned();
        let mut fields =
            vec![(b'S', severity.clone()), (b'V', severity), (b'C', self.code.to_owned()), (b'M', self.message)];
        fields.extend(self.hint.map(|hint| (b'H', hint)));
        fields.extend(self.position.map(|position| (b'P', position.to_string())));
        ErrorResponse::new(fields)
    }
}

/// The text without its position, which is a field of its own.
fn without_place(text: &str) -> &str {
    text.rsplit_once(" (Line: ").filter(|(_, place)| place.ends_with(')')).map_or(text, |(text, _)| text)
}

/// The character that `Line: 2, Column: 5` in the text of an error means, as the parser words it.
fn position(text: &str, statement: &str) -> Option<usize> {
    let (_, place) = text.rsplit_once("Line: ")?;
    let (line, place) = place.split_once(", Column: ")?;
    let digits = place.find(|c: char| !c.is_ascii_digit()).unwrap_or(place.len());
    character(statement, line.parse().ok()?, place[..digits].parse().ok()?)
}

/// The character of a statement at a line and a column of it, all from 1.
fn character(statement: &str, line: usize, column: usize) -> Option<usize> {
    let before: usize = statement.split('\n').take(line.checked_sub(1)?).map(|line| line.chars().count() + 1).sum();
    let position = before + column;
    (position <= statement.chars().count() + 1).then_some(position)
}

#[cfg(test)]
mod tests {
    use bonnetdb::{ErrorKind, Raised};

    use super::*;

    #[test]
    fn an_error_has_a_class_what_to_do_and_its_place() {
        let text = "there is no table tt; did you mean t? (Line: 2, Column: 6)";
        let error = Error::from(Raised::new(ErrorKind::UnknownTable, text));
        let failure = Failure::of(&error, "SELECT é\nFROM tt");
        assert_eq!((failure.code, failure.message.as_str()), ("42P01", "there is no table tt"));
        assert_eq!(failure.hint.as_deref(), Some("did you mean t?"));
        assert_eq!(failure.position, Some(15));
        assert_eq!("SELECT é\nFROM tt".chars().nth(14), Some('t'));
        let error = Raised::new(ErrorKind::AlreadyExists, "the table a; b exists already").advise("DROP it; or not");
        let failure = Failure::of(&error.into(), "CREATE TABLE");
        assert_eq!((failure.code, failure.message.as_str()), ("42P07", "the table a; b exists already"));
        assert_eq!(failure.hint.as_deref(), Some("DROP it; or not"));
        assert_eq!(position("no place", "SELECT"), None);
        assert_eq!(position("Line: 9, Column: 9", "SELECT"), None);
    }
}
