//! The columns of a table of SQLite as columns of Arrow.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow::datatypes::{DataType, Field};
use rusqlite::types::ValueRef;

use super::quoted;

/// A column as its table declares it.
#[derive(Debug, Clone)]
pub(super) struct Column {
    name: String,
    declared: String,
    data_type: DataType,
    /// Whether SQLite stores numbers that are put into it as text.
    is_text: bool,
}

impl Column {
    /// The column by what it is declared as (SQLite's rules of affinity, section 3.1 of "Datatypes In SQLite").
    pub(super) fn declared(name: String, declared: String) -> Self {
        let upper = declared.to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| upper.contains(part));
        let is_text = !has(&["INT"]) && has(&["CHAR", "CLOB", "TEXT"]);
        let data_type = match () {
            () if has(&["INT"]) => DataType::Int64,
            () if is_text => DataType::Utf8,
            () if has(&["BLOB"]) => DataType::Binary,
            () if has(&["REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL"]) => DataType::Float64,
            () if has(&["BOOL"]) => DataType::Boolean,
            () => DataType::Utf8,
        };
        Self { name, declared, data_type, is_text }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub(super) fn field(&self) -> Field {
        Field::new(&self.name, self.data_type.clone(), true)
    }

    /// The expression of SQLite that gives its values: a string where values of any type may stand in a column of strings.
    pub(super) fn expression(&self) -> String {
        match self.data_type {
            DataType::Utf8 if !self.is_text => format!("CAST({} AS TEXT)", quoted(&self.name)),
            _ => quoted(&self.name),
        }
    }
}

/// The values of a column, one after the other.
pub(super) enum Values {
    Integers(Int64Builder),
    Numbers(Float64Builder),
    Booleans(BooleanBuilder),
    Strings(StringBuilder),
    Bytes(BinaryBuilder),
}

impl Values {
    pub(super) fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Int64 => Self::Integers(Int64Builder::new()),
            DataType::Float64 => Self::Numbers(Float64Builder::new()),
            DataType::Boolean => Self::Booleans(BooleanBuilder::new()),
            DataType::Binary => Self::Bytes(BinaryBuilder::new()),
            _ => Self::Strings(StringBuilder::new()),
        }
    }

    /// Appends a value; answers its bytes beside its place, or none where it is none of the column's type.
    pub(super) fn push(&mut self, value: ValueRef<'_>) -> Option<usize> {
        match (self, value) {
            (Self::Integers(values), ValueRef::Null) => values.append_null(),
            (Self::Integers(values), ValueRef::Integer(value)) => values.append_value(value),
            (Self::Integers(values), ValueRef::Real(value)) => values.append_value(whole(value)?),
            (Self::Numbers(values), ValueRef::Null) => values.append_null(),
            (Self::Numbers(values), ValueRef::Integer(value)) => values.append_value(value as f64),
            (Self::Numbers(values), ValueRef::Real(value)) => values.append_value(value),
            (Self::Booleans(values), ValueRef::Null) => values.append_null(),
            (Self::Booleans(values), ValueRef::Integer(value)) => values.append_value(value != 0),
            (Self::Booleans(values), ValueRef::Text(value)) => values.append_value(truth(value)?),
            (Self::Strings(values), ValueRef::Null) => values.append_null(),
            (Self::Strings(values), ValueRef::Text(value)) => {
                values.append_value(std::str::from_utf8(value).ok()?);
                return Some(value.len());
            }
            (Self::Bytes(values), ValueRef::Null) => values.append_null(),
            (Self::Bytes(values), ValueRef::Blob(value) | ValueRef::Text(value)) => {
                values.append_value(value);
                return Some(value.len());
            }
            _ => return None,
        }
        Some(0)
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Integers(values) => Arc::new(values.finish()),
            Self::Numbers(values) => Arc::new(values.finish()),
            Self::Booleans(values) => Arc::new(values.finish()),
            Self::Strings(values) => Arc::new(values.finish()),
            Self::Bytes(values) => Arc::new(values.finish()),
        }
    }
}

/// The integer that a number is, if it is one.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value >= i64::MIN as f64 && value < i64::MAX as f64).then_some(value as i64)
}

/// The boolean that a string names.
fn truth(text: &[u8]) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    match () {
        () if is(["true", "t"]) => Some(true),
        () if is(["false", "f"]) => Some(false),
        () => None,
    }
}

/// What an error says of a value that is none of its column's type.
pub(super) fn misfit(table: &str, column: &Column, value: ValueRef<'_>) -> String {
    let held = match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(value) => format!("the integer {value}"),
        ValueRef::Real(value) => format!("the number {value}"),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => format!("the string '{}'", text.chars().take(60).collect::<String>()),
            Err(_) => "a string that is not in UTF-8".to_owned(),
        },
        ValueRef::Blob(bytes) => format!("a BLOB of {} bytes", bytes.len()),
    };
    let (name, declared) = (&column.name, &column.declared);
    format!(
        "{table}.{name} is declared {declared}, but a row holds {held}: correct the row, or attach a view of SQLite that has \
         CAST({} AS TEXT)",
        quoted(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_give_columns_their_types() {
        for (declared, expected) in [
            ("INTEGER", DataType::Int64),
            ("bigint unsigned", DataType::Int64),
            ("VARCHAR(10)", DataType::Utf8),
            ("DOUBLE PRECISION", DataType::Float64),
            ("DECIMAL(10,2)", DataType::Float64),
            ("BLOB", DataType::Binary),
            ("BOOLEAN", DataType::Boolean),
            ("DATETIME", DataType::Utf8),
            ("", DataType::Utf8),
        ] {
            assert_eq!(Column::declared("c".to_owned(), declared.to_owned()).data_type, expected, "{declared}");
        }
    }

    #[test]
    fn strings_may_be_numbers_and_numbers_whole() {
        let column = |declared: &str| Column::declared("a\"b".to_owned(), declared.to_owned());
        assert_eq!(column("DATE").expression(), "CAST(\"a\"\"b\" AS TEXT)");
        assert_eq!(column("TEXT").expression(), "\"a\"\"b\"");
        let mut integers = Values::new(&DataType::Int64);
        assert_eq!(integers.push(ValueRef::Real(3.0)), Some(0));
        assert_eq!(integers.push(ValueRef::Real(3.5)), None);
        assert_eq!(integers.push(ValueRef::Real(9_223_372_036_854_775_808.0)), None);
        let mut booleans = Values::new(&DataType::Boolean);
        assert_eq!(booleans.push(ValueRef::Text(b"TRUE")), Some(0));
        assert_eq!(booleans.push(ValueRef::Text(b"yes")), None);
        let said = misfit("runs", &column("INTEGER"), ValueRef::Text(b"abc"));
        assert!(said.starts_with("runs.a\"b is declared INTEGER, but a row holds the string 'abc':"), "{said}");
    }
}
