//! Errors of our own.

use std::error::Error as StdError;
use std::fmt;

use datafusion::common::DataFusionError;
use datafusion::sql::sqlparser::tokenizer::{Location, Span};

use crate::ErrorKind;
use crate::errors::causes::causes;
use crate::position;

/// An error of our own: its kind, what happened, what to do, and where in the statement. Within DataFusion it is an external
/// error, and keeps its kind beneath whatever wraps it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    kind: ErrorKind,
    text: String,
    advice: Option<String>,
    place: Option<Location>,
}

impl Raised {
    /// An error of this kind: the text says what happened, and what to do unless [`Raised::advise`] does.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), advice: None, place: None }
    }

    /// The same error with what to do, which is printed behind a colon.
    pub fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// The same error at this place of the statement, where that is known and the error has none yet.
    pub fn at(self, span: Span) -> Self {
        let place = self.place.or((span.start.line > 0).then_some(span.start));
        Self { place, ..self }
    }

    /// The same error with these words before its text.
    pub fn behind(self, words: &str) -> Self {
        Self { text: format!("{words}{}", self.text), ..self }
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What happened, without the advice and the place.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What to do, where it is said apart from what happened.
    pub fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }

    /// The place in the statement, where it is known.
    pub fn place(&self) -> Option<Location> {
        self.place
    }

    /// The error of ours that this one is or wraps.
    pub fn within<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        causes(error).find_map(<dyn StdError>::downcast_ref)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if let Some(advice) = &self.advice {
            write!(f, ": {advice}")?;
        }
        match self.place {
            Some(place) => f.write_str(&position(Span::new(place, place))),
            None => Ok(()),
        }
    }
}

impl StdError for Raised {}

impl From<Raised> for DataFusionError {
    fn from(error: Raised) -> Self {
        Self::External(Box::new(error))
    }
}

/// `Err` of an error of this kind: `raise!(UnknownTable, "there is no table {name}")`.
#[macro_export]
macro_rules! raise {
    ($kind:ident, $($text:tt)+) => {
        Err($crate::Raised::new($crate::ErrorKind::$kind, format!($($text)+)).into())
    };
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use arrow::error::ArrowError;
    use datafusion::common::Diagnostic;

    use super::*;
    use crate::Error;

    fn at(line: u64, column: u64) -> Span {
        Span::new(Location::new(line, column), Location::new(line, column))
    }

    #[test]
    fn the_text_the_advice_and_the_place_are_printed_in_this_order() {
        let error = Raised::new(ErrorKind::AlreadyExists, "the table t exists already");
        assert_eq!(error.to_string(), "the table t exists already");
        let error = error.advise("DROP it first").at(at(2, 5));
        assert_eq!(error.to_string(), "the table t exists already: DROP it first (Line: 2, Column: 5)");
        let error = error.at(at(3, 3)).behind("COPY: ");
        assert_eq!(error.to_string(), "COPY: the table t exists already: DROP it first (Line: 2, Column: 5)");
        assert_eq!(Raised::new(ErrorKind::Data, "x").at(Span::empty()).to_string(), "x");
    }

    #[test]
    fn an_error_keeps_its_kind_beneath_whatever_wraps_it() {
        let error = || DataFusionError::from(Raised::new(ErrorKind::RepeatedKey, "k twice"));
        let place = datafusion::common::Span::try_from_sqlparser_span(at(1, 2));
        for (wrapped, text) in [
            (error(), "k twice"),
            (error().context("Optimizer rule 'x' failed"), "k twice"),
            (error().with_diagnostic(Diagnostic::new_error("", place)), "k twice (Line: 1, Column: 2)"),
            (DataFusionError::Shared(Arc::new(error().context("a").context("b"))), "k twice"),
            (DataFusionError::External(Box::new(error().context("a"))), "k twice"),
            (DataFusionError::from(ArrowError::from(error())), "k twice"),
            (DataFusionError::from(ArrowError::from(error().context("a"))), "k twice"),
            (DataFusionError::IoError(io::Error::other(Raised::new(ErrorKind::RepeatedKey, "k twice"))), "k twice"),
        ] {
            let wrapped = Error::from(wrapped);
            assert_eq!(wrapped.kind(), ErrorKind::RepeatedKey, "{wrapped:?}");
            assert_eq!(wrapped.to_string(), text);
        }
    }
}
