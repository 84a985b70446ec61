//! The constants that a function is called with.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

use arrow::array::Array;
use datafusion::common::{Result, ScalarValue};
use serde::{Deserialize, Serialize};

use crate::error::usage_error;

/// A constant argument of a function, in the few types that arguments have.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum OptionValue {
    /// No value: the option is as good as absent.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text, the name of a column, or the name of a graph.
    Text(String),
    /// Several values: the names of graphs.
    List(Vec<OptionValue>),
}

impl OptionValue {
    /// The option that a constant SQL value stands for, or `None` for a type that no option has.
    pub fn from_scalar(value: &ScalarValue) -> Option<Self> {
        if value.is_null() {
            return Some(Self::Null);
        }
        Some(match value {
            ScalarValue::Boolean(Some(value)) => Self::Boolean(*value),
            ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)) => {
                Self::Text(text.clone())
            }
            ScalarValue::Dictionary(_, value) => return Self::from_scalar(value),
            value if value.data_type().is_integer() => match value.cast_to(&arrow::datatypes::DataType::Int64).ok()? {
                ScalarValue::Int64(Some(value)) => Self::Integer(value),
                _ => return None,
            },
            value if value.data_type().is_numeric() => {
                match value.cast_to(&arrow::datatypes::DataType::Float64).ok()? {
                    ScalarValue::Float64(Some(value)) => Self::Number(value),
                    _ => return None,
                }
            }
            ScalarValue::List(list) if list.len() == 1 => {
                let values = list.value(0);
                let value = |at| Self::from_scalar(&ScalarValue::try_from_array(&values, at).ok()?);
                Self::List((0..values.len()).map(value).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The same value for DataFusion.
    pub fn to_scalar(&self) -> ScalarValue {
        match self {
            Self::Null => ScalarValue::Null,
            Self::Boolean(value) => ScalarValue::from(*value),
            Self::Integer(value) => ScalarValue::from(*value),
            Self::Number(value) => ScalarValue::from(*value),
            Self::Text(value) => ScalarValue::from(value.as_str()),
            Self::List(values) => ScalarValue::List(ScalarValue::new_list_nullable(
                &values.iter().map(Self::to_scalar).collect::<Vec<_>>(),
                &values.first().map_or(arrow::datatypes::DataType::Null, |value| value.to_scalar().data_type()),
            )),
        }
    }
}

// Floats compare and hash by their bits: options are keys of a plan, and a plan's parts must be `Eq`.
impl PartialEq for OptionValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for OptionValue {}

impl Hash for OptionValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Boolean(value) => value.hash(state),
            Self::Integer(value) => value.hash(state),
            Self::Number(value) => value.to_bits().hash(state),
            Self::Text(value) => value.hash(state),
            Self::List(values) => values.hash(state),
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
            Self::Text(value) => write!(f, "'{}'", value.replace('\'', "''")),
            Self::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// The options of a call by name. Those that were left out and have a default are filled in with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options(BTreeMap<String, OptionValue>);

impl Options {
    /// Sets an option.
    pub fn insert(&mut self, name: impl Into<String>, value: OptionValue) {
        self.0.insert(name.into(), value);
    }

    /// The option's value; `None` where it is absent or NULL.
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.0.get(name).filter(|value| **value != OptionValue::Null)
    }

    /// All options in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OptionValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether no option is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The option as a truth value; `None` where absent or NULL.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Boolean(value)) => Ok(Some(*value)),
            Some(other) => usage_error(format!("{name} => {other}: expected true or false")),
        }
    }

    /// The option as a whole number; `None` where absent or NULL.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Integer(value)) => Ok(Some(*value)),
            Some(other) => usage_error(format!("{name} => {other}: expected a whole number")),
        }
    }

    /// The option as a whole number of at least `least`; `None` where absent or NULL.
    pub fn integer_from(&self, name: &str, least: i64) -> Result<Option<i64>> {
        match self.integer(name)? {
            Some(value) if value < least => {
                usage_error(format!("{name} => {value}: expected a whole number of at least {least}"))
            }
            value => Ok(value),
        }
    }

    /// The option as a number, whole or not; `None` where absent or NULL.
    pub fn number(&self, name: &str) -> Result<Option<f64>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Number(value)) => Ok(Some(*value)),
            Some(OptionValue::Integer(value)) => Ok(Some(*value as f64)),
            Some(other) => usage_error(format!("{name} => {other}: expected a number")),
        }
    }

    /// The option as text; `None` where absent or NULL.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Text(value)) => Ok(Some(value)),
            Some(other) => usage_error(format!("{name} => {other}: expected a text")),
        }
    }

    /// The option as a list of texts: the names of graphs.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        let text = |value: &OptionValue| match value {
            OptionValue::Text(text) => Ok(text.clone()),
            other => usage_error(format!("{name} => {other}: expected a text")),
        };
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(OptionValue::List(values)) => values.iter().map(text).collect(),
            Some(value) => Ok(vec![text(value)?]),
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A NULL option is as good as absent, and names that begin with @ are the plan's own.
        let shown = self.iter().filter(|(name, value)| **value != OptionValue::Null && !name.starts_with('@'));
        for (i, (name, value)) in shown.enumerate() {
            write!(f, "{}{name} => {value}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
