//! What the tests of this crate build tables with.

use crate::{Column, Table, Values};

/// A column of integers; no NULL.
pub fn integers(values: &[i64]) -> Values {
    Values::Integers(values.iter().map(|value| Some(*value)).collect())
}

/// A column of strings; `\N` is NULL.
pub fn texts(values: &[&str]) -> Values {
    Values::of_texts(values.iter().map(|value| Some(*value)))
}

/// A table of these columns.
pub fn table(name: &str, columns: Vec<(&str, Values)>) -> Table {
    let n_rows = columns.first().map_or(0, |(_, values)| values.len());
    let column = |(name, values): (&str, Values)| Column { name: name.to_owned(), values };
    Table { name: name.to_owned(), n_rows, columns: columns.into_iter().map(column).collect() }
}
