//! The declaration of an option: its type, range, default and meaning.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ground::OptionError;
use crate::options::forms::list;
use crate::options::{Form, Task};

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// No value: the option's default.
    #[default]
    Null,
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A name, or another string.
    Text(String),
}

impl Value {
    /// Whether there is none.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The values that an option takes, and the one that it has if none is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    /// A whole number.
    Integer {
        /// The value if none is given.
        default: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A real number.
    Real {
        /// The value if none is given.
        default: f64,
        /// The smallest value.
        min: f64,
        /// The bound that every value stays below.
        max: f64,
    },
    /// A whole number, or NULL if none is given.
    OptionalInteger {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A positive real number, or NULL if none is given.
    OptionalPositive,
    /// Several whole numbers, or NULL if none are given: the string `15,10`.
    OptionalCounts {
        /// The smallest value of each.
        min: u32,
        /// The largest value of each.
        max: u32,
    },
    /// One of several names.
    Choice {
        /// The value if none is given.
        default: &'static str,
        /// All values.
        values: &'static [&'static str],
    },
    /// A string of one of several forms, or NULL if none is given.
    Forms(&'static [Form]),
    /// A string that its reader checks, or NULL if none is given.
    Text {
        /// The strings that are valid, in words.
        forms: &'static str,
    },
}

/// The type of an option's column in the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// A number, whole or not.
    Number,
    /// Whole numbers: a list, one of them, or a string such as `15,10`.
    Integers,
    /// Strings: a list, one of them, or several with commas between.
    Texts,
}

/// An option of a run, declared once: what reads, checks and documents it takes it from here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionSpec {
    /// The option's name: a column of the jobs, or an option of the call.
    pub name: &'static str,
    /// The option's type, range and default.
    pub domain: Domain,
    /// The option's effect.
    pub description: &'static str,
    /// The type of its column.
    pub column: ColumnType,
    /// The tasks that read it; all if empty.
    pub tasks: &'static [Task],
}

/// The bound of a real option that may take the value `most`, but no more.
pub(crate) const fn up_to(most: f64) -> f64 {
    most.next_up()
}

impl OptionSpec {
    /// An option with the column type of its domain, read by every task.
    pub(crate) const fn new(name: &'static str, domain: Domain, description: &'static str) -> Self {
        let column = match domain {
            Domain::Choice { .. } | Domain::Forms(_) | Domain::Text { .. } => ColumnType::Text,
            Domain::OptionalCounts { .. } => ColumnType::Integers,
            _ => ColumnType::Number,
        };
        Self { name, domain, description, column, tasks: &[] }
    }

    /// A whole number from `min` to `max`.
    pub(crate) const fn integer(
        name: &'static str,
        default: i64,
        [min, max]: [i64; 2],
        description: &'static str,
    ) -> Self {
        Self::new(name, Domain::Integer { default, min, max }, description)
    }

    /// A real number from `min` to below `max`.
    pub(crate) const fn real(
        name: &'static str,
        default: f64,
        [min, max]: [f64; 2],
        description: &'static str,
    ) -> Self {
        Self::new(name, Domain::Real { default, min, max }, description)
    }

    /// One of several names.
    pub(crate) const fn choice(
        name: &'static str,
        default: &'static str,
        values: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self::new(name, Domain::Choice { default, values }, description)
    }

    /// The option with a column of whole numbers, which refuses others before any job runs.
    pub(crate) const fn integer_column(mut self) -> Self {
        self.column = ColumnType::Integer;
        self
    }

    /// The option with a column of texts.
    pub(crate) const fn texts_column(mut self) -> Self {
        self.column = ColumnType::Texts;
        self
    }

    /// The option, read by some tasks only: the others refuse any value but the default.
    pub(crate) const fn of_tasks(mut self, tasks: &'static [Task]) -> Self {
        self.tasks = tasks;
        self
    }

    /// Whether a task reads the option.
    pub fn is_read_by(&self, task: Task) -> bool {
        self.tasks.is_empty() || self.tasks.contains(&task)
    }

    /// The value if none is given.
    pub fn default_value(&self) -> Value {
        match self.domain {
            Domain::Integer { default, .. } => Value::Integer(default),
            Domain::Real { default, .. } => Value::Real(default),
            Domain::Choice { default, .. } => Value::Text(default.into()),
            Domain::OptionalInteger { .. }
            | Domain::OptionalPositive
            | Domain::OptionalCounts { .. }
            | Domain::Forms(_)
            | Domain::Text { .. } => Value::Null,
        }
    }

    /// `integer`, `real`, `integer[]` or `text`.
    pub fn type_name(&self) -> &'static str {
        match self.domain {
            Domain::Integer { .. } | Domain::OptionalInteger { .. } => "integer",
            Domain::Real { .. } | Domain::OptionalPositive => "real",
            Domain::OptionalCounts { .. } => "integer[]",
            Domain::Choice { .. } | Domain::Forms(_) | Domain::Text { .. } => "text",
        }
    }

    /// The valid values in words.
    pub fn range(&self) -> String {
        match self.domain {
            Domain::Integer { min: i64::MIN, max: i64::MAX, .. } => "an integer".into(),
            Domain::OptionalInteger { min: i64::MIN, max: i64::MAX } => "an integer, or NULL".into(),
            Domain::Integer { min, max, .. } => format!("an integer in [{min}, {max}]"),
            Domain::Real { min, max, .. } if max.is_infinite() => {
                format!("a number in [{min:?}, infinity)").replace(".0,", ",")
            }
            Domain::Real { min, max, .. } if up_to(max.next_down().round()) == max => {
                format!("a number in [{min}, {}]", max.next_down())
            }
            Domain::Real { min, max, .. } => format!("a number in [{min}, {max})"),
            Domain::OptionalInteger { min, max } => format!("an integer in [{min}, {max}], or NULL"),
            Domain::OptionalPositive => "a number above 0, or NULL".into(),
            Domain::OptionalCounts { min, max } => {
                format!("integers in [{min}, {max}], such as 15 or [15, 10], or NULL")
            }
            Domain::Choice { values, .. } => values.join(", "),
            Domain::Forms(forms) => format!("{}, or NULL", list(forms)),
            Domain::Text { forms } => forms.into(),
        }
    }

    /// A given value in the option's type; NULL becomes the default.
    ///
    /// # Errors
    /// If the value is outside the option's domain.
    pub fn resolve(&self, given: &Value) -> Result<Value, OptionError> {
        let error = || OptionError::invalid(self.name, given, &self.range());
        let whole = |min: i64, max: i64| match *given {
            Value::Integer(x) if (min..=max).contains(&x) => Ok(Value::Integer(x)),
            // A whole number that arrives as a real one, as SQL's `64.0` does.
            Value::Real(x) if x.fract() == 0.0 && (min as f64..=max as f64).contains(&x) => {
                Ok(Value::Integer(x as i64))
            }
            _ => Err(error()),
        };
        let real = |fits: &dyn Fn(f64) -> bool| match *given {
            Value::Real(x) if fits(x) => Ok(Value::Real(x)),
            Value::Integer(x) if fits(x as f64) => Ok(Value::Real(x as f64)),
            _ => Err(error()),
        };
        match (self.domain, given) {
            (_, Value::Null) => Ok(self.default_value()),
            (Domain::Integer { min, max, .. } | Domain::OptionalInteger { min, max }, _) => whole(min, max),
            (Domain::Real { min, max, .. }, _) => real(&|x| min <= x && x < max),
            (Domain::OptionalPositive, _) => real(&|x| x > 0.0 && x.is_finite()),
            (Domain::OptionalCounts { min, max }, _) => {
                counts(given, min, max).map(|_| given.clone()).ok_or_else(error)
            }
            (Domain::Choice { values, .. }, Value::Text(name)) if values.contains(&name.as_str()) => Ok(given.clone()),
            (Domain::Forms(_) | Domain::Text { .. }, Value::Text(_)) => Ok(given.clone()),
            (Domain::Choice { .. } | Domain::Forms(_) | Domain::Text { .. }, _) => Err(error()),
        }
    }
}

/// A number, or several in a string such as `15,10`, each in its range.
pub(crate) fn counts(value: &Value, min: u32, max: u32) -> Option<Vec<u32>> {
    let text = match value {
        Value::Real(x) if x.fract() == 0.0 => format!("{x:.0}"),
        value => value.to_string(),
    };
    let count = |part: &str| part.trim().parse().ok().filter(|count| (min..=max).contains(count));
    text.split(',').map(count).collect()
}

/// A model's defaults for the options that all models share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub epochs: i64,
    pub lr: f64,
    pub weight_decay: f64,
    pub optimizer: &'static str,
    pub hidden: i64,
    pub layers: i64,
    pub dropout: f64,
}

/// The setting of Kipf and Welling (2017) with the 64 hidden units that benchmarks use, decay on all parameters as most
/// published comparisons have it (the paper itself decays only the first layer).
pub(crate) const COMMON: Defaults =
    Defaults { epochs: 200, lr: 0.01, weight_decay: 5e-4, optimizer: "adam", hidden: 64, layers: 2, dropout: 0.5 };

/// The setting of the MANTRA benchmark (Ballester et al. 2025, Sec. 3.1 and App. D).
pub(crate) const OF_COMPLEXES: Defaults =
    Defaults { epochs: 6, lr: 0.01, weight_decay: 0.0, optimizer: "adam", hidden: 64, layers: 2, dropout: 0.0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_say_whether_their_ends_belong_to_them() {
        let alpha = |max| OptionSpec::real("alpha", 0.5, [0.0, max], "");
        assert_eq!(alpha(1.0).range(), "a number in [0, 1)");
        assert_eq!(alpha(up_to(1.0)).range(), "a number in [0, 1]");
        assert_eq!(alpha(f64::INFINITY).range(), "a number in [0, infinity)");
        assert!(alpha(1.0).resolve(&Value::Real(1.0)).is_err());
        assert!(alpha(up_to(1.0)).resolve(&Value::Real(1.0)).is_ok());
        let error = alpha(up_to(1.0)).resolve(&Value::Real(1.0 + 1e-9)).unwrap_err();
        assert!(error.to_string().contains("[0, 1]"));
    }
}
