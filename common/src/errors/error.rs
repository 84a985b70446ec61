//! The engine's error: what happened, where, and what to do, in one text.

use arrow::error::ArrowError;
use datafusion::common::{self, Column, DataFusionError, Diagnostic, SchemaError};
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::errors::arrow_types::with_sql_types;
use crate::errors::debug_structures::without_structures;
use crate::errors::nearest::nearest;
use crate::{position, without_report_request};

/// The result of whatever can fail in the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. Its text is made for the person who typed the statement.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The statement is refused or failed; the text says what, where and what to do.
    #[error("{}", without_report_request(.0))]
    Statement(String),
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

impl Error {
    /// An error with this text.
    pub fn statement(text: impl Into<String>) -> Self {
        Self::Statement(text.into())
    }

    /// An error with this text and its place in the statement, where that is known.
    pub fn statement_at(at: Span, text: impl Into<String>) -> Self {
        Self::Statement(text.into() + &position(at))
    }

    /// The same error with its place in the statement, where that is known and the error has none yet.
    pub fn at(self, span: Span) -> Self {
        match (self, common::Span::try_from_sqlparser_span(span)) {
            (Self::Statement(text), _) if !text.contains("(Line: ") => Self::statement_at(span, text),
            (Self::DataFusion(error), Some(span)) if error.diagnostic().is_none() => {
                Self::DataFusion(error.with_diagnostic(Diagnostic::new_error("", Some(span))))
            }
            (error, _) => error,
        }
    }
}

/// The error of a subquery that DataFusion cannot turn into a join.
const CORRELATED: &str = "a subquery reads columns of the query around it in a way that cannot be planned: compare them \
                          with = in its WHERE, or join its tables and GROUP BY";

/// The error of a subquery in ON that reads columns of the side whose rows the join keeps.
const CORRELATED_ON: &str = "EXISTS or IN (SELECT ...) in the ON of an outer join reads a column of the side whose rows \
                             are kept, which cannot be planned: compute it before, FROM (SELECT *, EXISTS (...) AS found \
                             FROM a) AS a LEFT JOIN b ON found AND ...";

/// The text of a DataFusion error without the wrappers that say nothing to a user.
fn message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Context(rule, _) if rule.starts_with("Optimizer rule 'scalar_subquery_to_join'") => {
            CORRELATED.to_owned()
        }
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
        DataFusionError::Plan(text) if text.contains(", got Column(") || text.contains(", got OuterReferenceColumn(") => {
            "a function in FROM takes constants, not columns of the tables beside it: unnest(range(...)) in a select list \
             has a value for each row"
                .to_owned()
        }
        DataFusionError::Plan(text)
        | DataFusionError::Execution(text)
        | DataFusionError::Configuration(text)
        | DataFusionError::ResourcesExhausted(text) => own_words(text).to_owned(),
        DataFusionError::NotImplemented(text) => match (text.split_once(UNPLANNED), text.split_once(UNSLIDING)) {
            (Some((_, expression)), _) => unplanned(expression),
            (_, Some((_, call))) => {
                let function = call.split('(').next().unwrap_or_default();
                format!(
                    "{function} OVER a frame that rows leave again is not supported: let the frame begin at UNBOUNDED \
                     PRECEDING, or join the rows with those of their frame and GROUP BY"
                )
            }
            _ => error.strip_backtrace(),
        },
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::AmbiguousReference { field } if field.relation.is_none() => format!(
                "{}: write the table's name before it; the key of joins by NATURAL, or in parentheses, is coalesce(a.{}, \
                 b.{1}), or plain where USING ({1}) joins",
                without_class(error),
                field.name
            ),
            SchemaError::FieldNotFound { valid_fields, .. }
                if valid_fields.iter().any(|it| it.flat_name().starts_with("__correlated_sq")) =>
            {
                CORRELATED_ON.to_owned()
            }
            SchemaError::FieldNotFound { field, valid_fields } => {
                let fields = valid_fields.iter().flat_map(|it| [(it.name.clone(), it), (it.flat_name(), it)]);
                let meant = nearest(&field.name, fields.clone()).or_else(|| nearest(&field.flat_name(), fields));
                with_meant(&without_class(error), meant.map(Column::quoted_flat_name))
            }
            _ => without_class(error),
        },
        // What panicked is known by its text, which stands in quotes at the end.
        DataFusionError::ExecutionJoin(inner) if inner.is_panic() => {
            let text = inner.to_string();
            let panic = text.split_once(" panicked with message \"").map_or(text.as_str(), |(_, panic)| panic);
            crate::errors::panics::message(panic.trim_end_matches('"'))
        }
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

const UNSLIDING: &str =
    "Aggregate can not be used as a sliding accumulator because `retract_batch` is not implemented: ";

const UNPLANNED: &str = "Physical plan does not support logical expression ";

/// The error of an expression that DataFusion prints as a structure of its own.
fn unplanned(expression: &str) -> String {
    let kind = expression.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match kind {
        "ScalarSubquery" | "InSubquery" | "Exists" | "OuterReferenceColumn" => CORRELATED.to_owned(),
        "WindowFunction" => {
            "a window function stands where rows are not there yet: compute it in a subquery, FROM (SELECT \
                             *, f(...) OVER (...) AS value FROM ...), and read its column"
                .to_owned()
        }
        kind => format!("an expression of the kind {kind} stands where it cannot be planned: compute it in a subquery"),
    }
}

/// A function's own error about its arguments, without DataFusion's words around it; where a function has several
/// signatures, those that there are, without what each of them lacks.
fn own_words(text: &str) -> &str {
    const NO_FUNCTION: &str = "No function matches the given name";
    if let Some((_, rest)) = text.split_once("user-defined coercion failed with: Error during planning: ") {
        return rest.split_once(NO_FUNCTION).map_or(rest, |(own, _)| own.trim_end_matches(' '));
    }
    match text.find(NO_FUNCTION) {
        Some(at)
            if text[..at].contains("failed to match any signature, errors: ")
                || text[..at].contains(" to the signature ") =>
        {
            &text[at..]
        }
        _ => text,
    }
}
