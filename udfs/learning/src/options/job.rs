//! A run as a user describes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Value;

/// One run: a model, and the options that it is given. Others take the model's defaults.
///
/// ```
/// use bonnet_learning::Job;
///
/// let options = Job::new("gcn").with("epochs", 100).with("dropout", 0.3).resolve()?;
/// assert_eq!((options.epochs, options.dropout, options.hidden), (100, 0.3, 64));
/// let error = Job::new("gcn").with("dropout", 2.0).resolve().unwrap_err();
/// assert_eq!(error.to_string(), "dropout is `2`; valid: a number in [0, 1)");
/// # Ok::<(), bonnet_learning::OptionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// A name of [`crate::models()`].
    pub model: String,
    /// Options by name: those of every run ([`crate::RUN_OPTIONS`]), and those of the model
    /// ([`crate::ModelSpec::hyperparameters`]).
    #[serde(default)]
    pub options: BTreeMap<String, Value>,
}

impl Job {
    /// A job of a model, every option at its default.
    pub fn new(model: &str) -> Self {
        Self { model: model.into(), options: BTreeMap::new() }
    }

    /// The job with an option at a value; NULL ([`Value::Null`], or `None`) is the default.
    pub fn with(mut self, option: &str, value: impl Into<Value>) -> Self {
        self.set(option, value);
        self
    }

    /// Gives an option a value.
    pub fn set(&mut self, option: &str, value: impl Into<Value>) {
        self.options.insert(option.to_owned(), value.into());
    }

    /// The value that an option is given, NULL if none.
    pub fn get(&self, option: &str) -> &Value {
        self.options.get(option).unwrap_or(&Value::Null)
    }
}
