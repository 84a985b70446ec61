//! Labels and nodes as numbers while their rows are counted.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::{cast, is_not_null};
use arrow::datatypes::DataType;
use bonnet_sql::{KeyColumn, execution_error, usage_error};
use datafusion::common::Result;

use crate::Interner;

/// A key in either form, as it travels between partitions.
pub(super) type KeysState = (Vec<i64>, Vec<String>);

/// Keys numbered as they come: all integers, or all text.
#[derive(Debug, Default, Clone)]
pub(super) struct Keys {
    pub(super) integers: Interner<i64>,
    texts: Interner<String>,
    what: &'static str,
}

impl Keys {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, ..Self::default() }
    }

    /// The numbers of the rows marked by `valid`, in order.
    pub(super) fn numbers(&mut self, column: &ArrayRef, valid: &[bool]) -> Result<Vec<u32>> {
        // Labels may be published as floats: as text they differ just as well.
        let column = match column.data_type() {
            DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Boolean => {
                cast(column, &DataType::Utf8)?
            }
            _ => Arc::clone(column),
        };
        let numbers = match KeyColumn::new(&column, self.what)? {
            KeyColumn::Integer(keys) => {
                let keys = keys.iter().zip(valid).filter(|(_, valid)| **valid);
                keys.map(|(key, _)| self.integers.intern(&key.unwrap_or_default())).collect::<Result<Vec<_>, _>>()
            }
            KeyColumn::Text(keys) => {
                let keys = keys.iter().zip(valid).filter(|(_, valid)| **valid);
                keys.map(|(key, _)| self.texts.intern(key.unwrap_or_default())).collect()
            }
        };
        let numbers = numbers.map_err(|error| execution_error(format!("{}: {error}", self.what)))?;
        self.agree()?;
        Ok(numbers)
    }

    /// The number of one integer.
    pub(super) fn number(&mut self, key: i64) -> Result<u32> {
        self.integers.intern(&key).map_err(|error| execution_error(format!("{}: {error}", self.what)))
    }

    pub(super) fn agree(&self) -> Result<()> {
        if !self.integers.keys().is_empty() && !self.texts.keys().is_empty() {
            return usage_error(format!("{} mixes integers and text: cast them to one type", self.what));
        }
        Ok(())
    }

    pub(super) fn write(&self) -> KeysState {
        (self.integers.keys().to_vec(), self.texts.keys().to_vec())
    }

    /// For each key of another state, its number here.
    pub(super) fn read(&mut self, (integers, texts): &KeysState) -> Result<Vec<u32>> {
        let wrong = |error| execution_error(format!("{}: {error}", self.what));
        let integers = integers.iter().map(|key| self.integers.intern(key)).collect::<Result<Vec<_>, _>>();
        let texts = texts.iter().map(|key| self.texts.intern(key.as_str())).collect::<Result<Vec<_>, _>>();
        let (integers, texts) = (integers.map_err(wrong)?, texts.map_err(wrong)?);
        self.agree()?;
        // They agree: one of the two is empty.
        Ok(if integers.is_empty() { texts } else { integers })
    }

    pub(super) fn bytes(&self) -> usize {
        self.integers.bytes() + self.texts.bytes()
    }
}

/// Which rows have no NULL in any column.
pub(super) fn complete_rows(columns: &[ArrayRef]) -> Result<Vec<bool>> {
    let mut complete = vec![true; columns[0].len()];
    for column in columns {
        let column = match column.data_type() {
            // A column of type NULL has no bitmap.
            DataType::Null => return Ok(vec![false; complete.len()]),
            DataType::Dictionary(_, values) => cast(column, values)?,
            _ => Arc::clone(column),
        };
        let valid = is_not_null(&column)?;
        complete.iter_mut().zip(valid.iter()).for_each(|(complete, valid)| *complete &= valid == Some(true));
    }
    Ok(complete)
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| execution_error(error.to_string()))
}

pub(super) fn from_json<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| execution_error(format!("a partition's state is damaged: {error}")))
}
