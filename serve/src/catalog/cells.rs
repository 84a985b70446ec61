//! What the tables of the catalog are made of: columns, and rows with their values.

use std::collections::HashMap;

use datafusion::common::ScalarValue;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Eight bytes: object identifiers too.
    Int8,
    Int4,
    Int2,
    Float4,
    Bool,
    Text,
    /// A list of strings.
    Texts,
    /// A list of numbers of eight bytes.
    Int8s,
}

/// A column: its name and its type.
pub(super) type Column = (&'static str, Kind);

/// A table: its name and its columns.
pub(super) type Table = (&'static str, &'static [Column]);

/// The values of a row by their columns; those that it lacks are NULL, zero or false.
pub(super) type Row = HashMap<&'static str, ScalarValue>;

/// A text.
pub(super) fn text(value: impl Into<String>) -> ScalarValue {
    ScalarValue::Utf8(Some(value.into()))
}

/// A number of eight bytes.
pub(super) fn number(value: i64) -> ScalarValue {
    ScalarValue::Int64(Some(value))
}

/// A truth value.
pub(super) fn truth(value: bool) -> ScalarValue {
    ScalarValue::Boolean(Some(value))
}
