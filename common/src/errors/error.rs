//! The engine's error: what happened, where, and what to do, in one text.

use arrow::error::ArrowError;
use datafusion::common::{self, Column, DataFusionError, Diagnostic, SchemaError};
use datafusion::sql::sqlparser::tokenizer::{Location, Span};

use crate::errors::arrow_types::with_sql_types;
use crate::errors::datafusion_words;
use crate::errors::debug_structures::without_structures;
use crate::errors::nearest::nearest;
use crate::errors::panics;
use crate::{ErrorKind, Raised, without_report_request};

/// The result of whatever can fail in the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. Its text is made for the person who typed the statement.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The statement is refused or failed, in our words.
    #[error("{}", without_report_request(&raised_text(.0)))]
    Raised(#[from] Raised),
    /// The text is no SQL; the text says what was expected and where.
    #[error("{0}")]
    Syntax(String),
    /// DataFusion refused the statement or failed in running it.
    #[error("{}", with_sql_types(&without_structures(&without_report_request(&message(.0)))))]
    DataFusion(#[from] DataFusionError),
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::DataFusion(error.into())
    }
}

/// The error within DataFusion, with its kind and its text.
impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        match error {
            Error::Raised(error) => error.into(),
            Error::Syntax(text) => Raised::new(ErrorKind::Syntax, text).into(),
            Error::DataFusion(error) => error,
            Error::Io(error) => Self::IoError(error),
        }
    }
}

impl Error {
    /// An error of a statement that is wrong, with this text; [`Raised`] makes those of other kinds.
    pub fn statement(text: impl Into<String>) -> Self {
        Raised::new(ErrorKind::Statement, text).into()
    }

    /// An error of a statement that is wrong, with this text and its place in the statement, where that is known.
    pub fn statement_at(at: Span, text: impl Into<String>) -> Self {
        Raised::new(ErrorKind::Statement, text).at(at).into()
    }

    /// The same error with its place in the statement, where that is known and the error has none yet.
    pub fn at(self, span: Span) -> Self {
        match (self, common::Span::try_from_sqlparser_span(span)) {
            (Self::Raised(error), _) => error.at(span).into(),
            (Self::DataFusion(error), Some(span)) if error.diagnostic().is_none() && place(&error).is_none() => {
                Self::DataFusion(error.with_diagnostic(Diagnostic::new_error("", Some(span))))
            }
            (error, _) => error,
        }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Raised(error) => error.kind(),
            Self::Syntax(_) => ErrorKind::Syntax,
            Self::DataFusion(error) => ErrorKind::of(error),
            Self::Io(error) => Raised::within(error).map_or(ErrorKind::Files, Raised::kind),
        }
    }

    /// The place in the statement, where the error knows it apart from its text. That of a text that is no SQL stands in the
    /// parser's words.
    pub fn place(&self) -> Option<Location> {
        match self {
            Self::Raised(error) => error.place(),
            Self::DataFusion(error) => place(error),
            Self::Syntax(_) | Self::Io(_) => None,
        }
    }

    /// What to do, where the error says it apart from what happened.
    pub fn advice(&self) -> Option<&str> {
        match self {
            Self::Raised(error) => error.advice(),
            Self::DataFusion(error) => Raised::within(error)?.advice(),
            Self::Syntax(_) | Self::Io(_) => None,
        }
    }
}

fn place(error: &DataFusionError) -> Option<Location> {
    let raised = Raised::within(error).and_then(Raised::place);
    let of_datafusion = || error.diagnostic()?.span.map(|span| Location::new(span.start.line, span.start.column));
    raised.or_else(of_datafusion).filter(|place| place.line > 0)
}

fn raised_text(error: &Raised) -> String {
    error.to_string()
}

/// The text of a DataFusion error without the wrappers that say nothing to a user.
fn message(error: &DataFusionError) -> String {
    if let Some(text) = datafusion_words::translated(error) {
        return text;
    }
    match error {
        DataFusionError::Diagnostic(diagnostic, inner) => {
            let line = diagnostic.span.filter(|span| span.start.line > 0);
            let place = line.map(|span| format!(" (Line: {}, Column: {})", span.start.line, span.start.column));
            message(inner) + &place.unwrap_or_default()
        }
        DataFusionError::Context(graph, inner) if graph.starts_with("graph_id ") => {
            format!("{} ({graph})", message(inner))
        }
        DataFusionError::Context(_, inner) => message(inner),
        DataFusionError::Shared(inner) => message(inner),
        DataFusionError::External(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(inner) => message(inner),
            None => inner.to_string(),
        },
        DataFusionError::Plan(text)
        | DataFusionError::Execution(text)
        | DataFusionError::Configuration(text)
        | DataFusionError::ResourcesExhausted(text) => text.clone(),
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::AmbiguousReference { field } if field.relation.is_none() => format!(
                "{}: write the table's name before it; the key of joins by NATURAL, or in parentheses, is coalesce(a.{}, \
                 b.{1}), or plain where USING ({1}) joins",
                without_class(error),
                field.name
            ),
            schema if datafusion_words::is_of_correlated_join(schema) => datafusion_words::CORRELATED_ON.to_owned(),
            SchemaError::FieldNotFound { field, valid_fields } => {
                let fields = valid_fields.iter().flat_map(|it| [(it.name.clone(), it), (it.flat_name(), it)]);
                let meant = nearest(&field.name, fields.clone()).or_else(|| nearest(&field.flat_name(), fields));
                with_meant(&without_class(error), meant.map(Column::quoted_flat_name))
            }
            _ => without_class(error),
        },
        DataFusionError::ExecutionJoin(inner) if inner.is_panic() => panics::of_task(inner).to_string(),
        // With its path.
        DataFusionError::IoError(inner) => inner.to_string(),
        DataFusionError::ArrowError(inner, _) => match inner.as_ref() {
            ArrowError::DivideByZero => "division by zero".to_owned(),
            ArrowError::CastError(text)
            | ArrowError::ComputeError(text)
            | ArrowError::InvalidArgumentError(text)
            | ArrowError::ArithmeticOverflow(text)
            | ArrowError::ParseError(text)
            | ArrowError::SchemaError(text) => text.clone(),
            ArrowError::ExternalError(inner) => match inner.downcast_ref::<DataFusionError>() {
                Some(inner) => message(inner),
                None => inner.to_string(),
            },
            other => other.to_string(),
        },
        other => other.strip_backtrace(),
    }
}

/// The text of an error of a schema without the name of its class.
fn without_class(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    text.strip_prefix("Schema error: ").map_or(text.clone(), str::to_owned)
}

/// The text about an unknown column with the name that was meant. DataFusion counts two letters swapped as two edits.
fn with_meant(text: &str, meant: Option<String>) -> String {
    let (first, rest) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let unknown = first.split_once(". Did you mean ").map_or(first, |(unknown, _)| unknown).trim_end_matches('.');
    let meant = meant.map_or_else(|| ".".to_owned(), |meant| format!(". Did you mean '{meant}'?"));
    let rest = rest.map_or_else(String::new, |rest| format!("\n{rest}"));
    format!("{unknown}{meant}{rest}")
}
