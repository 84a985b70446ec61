//! Errors as PostgreSQL's clients read them: a class, a message, what to do, and the place in the statement.

use datafusion::common::DataFusionError;
use pgwire::messages::response::ErrorResponse;

use crate::Error;

/// An error on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The class of five letters (SQLSTATE).
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The character of the statement, from 1.
    pub position: Option<usize>,
    /// Whether the connection ends.
    pub fatal: bool,
}

/// Signs of a class in the text of an error, the first that is found counts.
const CLASSES: &[(&str, &str)] = &[
    ("bonnet.external_access is off", "42501"),
    ("bonnet.statement_timeout", "57014"),
    ("read-only", "25006"),
    ("for reading alone", "25006"),
    ("transaction is open already", "25001"),
    ("no transaction is open", "25P01"),
    ("transaction of several changes", "0A000"),
    ("cannot undo", "0A000"),
    ("memory limit", "53200"),
    ("defect", "XX000"),
    ("Internal error", "XX000"),
    ("there is no table", "42P01"),
    ("there is no view", "42P01"),
    ("' not found", "42P01"),
    ("there is no schema", "3F000"),
    ("there is no function", "42883"),
    ("Invalid function", "42883"),
    ("there is no setting", "42704"),
    ("exists already", "42P07"),
    ("already exists", "42P07"),
    ("division by zero", "22012"),
    ("verflow", "22003"),
    ("out of range", "22003"),
    ("Cannot cast", "22P02"),
    ("cannot be cast", "22P02"),
    ("not supported", "0A000"),
    ("Parser error", "42601"),
    ("expected", "42601"),
    ("Expected", "42601"),
];

/// Syntax errors and refusals of access, where nothing more is known.
const STATEMENT: &str = "42000";

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

    /// What a statement that a client cancelled answers.
    pub(super) fn cancelled() -> Self {
        Self::new("57014", "canceling statement due to user request")
    }

    /// An error of the engine in a statement.
    pub(super) fn of(error: &Error, statement: &str) -> Self {
        let text = error.to_string();
        let sign = CLASSES.iter().find(|(sign, _)| text.contains(sign)).map(|(_, code)| *code);
        let code = match error {
            Error::Cancelled(_) => "57014",
            Error::Io(_) => "58030",
            Error::DataFusion(error) => kind(error).or(sign).unwrap_or(STATEMENT),
            Error::Statement(_) => sign.unwrap_or(STATEMENT),
        };
        Self { position: position(&text, statement), ..Self::new(code, without_place(&text)) }
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

/// The class that the kind of DataFusion's error gives.
fn kind(error: &DataFusionError) -> Option<&'static str> {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => kind(inner),
        DataFusionError::Shared(inner) => kind(inner),
        DataFusionError::SQL(..) => Some("42601"),
        DataFusionError::SchemaError(..) => Some("42703"),
        DataFusionError::ResourcesExhausted(_) => Some("53200"),
        DataFusionError::NotImplemented(_) => Some("0A000"),
        DataFusionError::Internal(_) => Some("XX000"),
        DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => Some("58030"),
        _ => None,
    }
}

/// The text of an error without its place, which is told by itself.
fn without_place(text: &str) -> &str {
    text.rsplit_once(" (Line: ").filter(|(_, place)| place.ends_with(')')).map_or(text, |(text, _)| text)
}

/// The character that `Line: 2, Column: 5` in the text of an error means.
fn position(text: &str, statement: &str) -> Option<usize> {
    let (_, place) = text.rsplit_once("Line: ")?;
    let (line, place) = place.split_once(", Column: ")?;
    let digits = place.find(|c: char| !c.is_ascii_digit()).unwrap_or(place.len());
    let (line, column): (usize, usize) = (line.parse().ok()?, place[..digits].parse().ok()?);
    let before: usize = statement.split('\n').take(line.checked_sub(1)?).map(|line| line.chars().count() + 1).sum();
    let position = before + column;
    (position <= statement.chars().count() + 1).then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_class_what_to_do_and_its_place() {
        let error = Error::statement("there is no table tt; did you mean t? (Line: 2, Column: 6)");
        let failure = Failure::of(&error, "SELECT é\nFROM tt");
        assert_eq!((failure.code, failure.message.as_str()), ("42P01", "there is no table tt"));
        assert_eq!(failure.hint.as_deref(), Some("did you mean t?"));
        assert_eq!(failure.position, Some(15));
        assert_eq!("SELECT é\nFROM tt".chars().nth(14), Some('t'));
        assert_eq!(position("no place", "SELECT"), None);
        assert_eq!(position("Line: 9, Column: 9", "SELECT"), None);
        let error = Error::DataFusion(DataFusionError::ResourcesExhausted("much".into()).context("while sorting"));
        assert_eq!(Failure::of(&error, "").code, "53200");
        assert_eq!(Failure::of(&Error::statement("COPY is refused: bonnet.external_access is off"), "").code, "42501");
        assert_eq!(Failure::of(&Error::statement("who knows"), "").code, STATEMENT);
    }
}
