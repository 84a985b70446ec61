//! The position of an error in a statement.

use datafusion::sql::sqlparser::tokenizer::Span;

/// The position of an error in the statement, ` (Line: 1, Column: 8)`; empty where it is unknown.
pub fn position(span: Span) -> String {
    match span.start.line {
        0 => String::new(),
        line => format!(" (Line: {line}, Column: {})", span.start.column),
    }
}
