//! What a model reads of the options of its run.

use std::collections::BTreeMap;

use super::option_spec::counts;
use super::{Task, Value};
use crate::ground::OptionError;

/// What a model reads of the options of its run.
#[derive(Debug, Clone, Copy)]
pub struct ModelOptions<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The task.
    pub task: Task,
    /// Draws initial weights and dropout masks.
    pub seed: u64,
    /// The width of the hidden layers (of one head, where there are heads).
    pub hidden: usize,
    /// The number of layers, the last one included.
    pub layers: usize,
    /// The probability that an input of a layer is dropped in training.
    pub dropout: f64,
    /// The width of a node's output where the task reads embeddings.
    pub embedding: usize,
    /// The probability that the class of a training node is an input in a pass of training, for models that take no other place
    /// for it; 0 where none ever is.
    pub label_rate: f64,
    /// How many of the features are positional encodings: their last columns.
    pub encodings: usize,
    /// Whether the last hidden representation of every node is read.
    pub keep_embeddings: bool,
    /// The model's own hyperparameters, every one of them.
    pub hyperparameters: &'a BTreeMap<String, Value>,
}

impl<'a> ModelOptions<'a> {
    /// A model's own integer hyperparameter.
    pub(crate) fn integer(&self, name: &str) -> Result<i64, OptionError> {
        match self.hyperparameters.get(name) {
            Some(Value::Integer(value)) => Ok(*value),
            _ => Err(self.missing(name)),
        }
    }

    /// A model's own real hyperparameter.
    pub(crate) fn real(&self, name: &str) -> Result<f64, OptionError> {
        match self.hyperparameters.get(name) {
            Some(Value::Real(value)) => Ok(*value),
            _ => Err(self.missing(name)),
        }
    }

    /// A model's own choice.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, OptionError> {
        match self.hyperparameters.get(name) {
            Some(Value::Text(value)) => Ok(value),
            _ => Err(self.missing(name)),
        }
    }

    /// A model's own integer hyperparameter that may be left out.
    pub(crate) fn optional_integer(&self, name: &str) -> Option<i64> {
        match self.hyperparameters.get(name) {
            Some(Value::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// A model's own text that may be left out.
    pub(crate) fn optional_text(&self, name: &str) -> Option<&'a str> {
        match self.hyperparameters.get(name) {
            Some(Value::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// A model's own list of whole numbers; an error where none is given.
    pub(crate) fn counts(&self, name: &str) -> Result<Vec<u32>, OptionError> {
        match self.hyperparameters.get(name) {
            None | Some(Value::Null) => Err(self.missing(name)),
            Some(value) => {
                let valid = "whole numbers such as 15,10";
                counts(value, 0, u32::MAX).ok_or_else(|| OptionError::invalid(name, value, valid))
            }
        }
    }

    /// Whether the model reads which end of an edge is its tail.
    pub fn reads_arcs(&self) -> bool {
        self.hyperparameters.get("adjacency").is_some_and(|value| *value == Value::Text("arcs".into()))
    }

    /// Whether messages are weighed by the weights of the edges.
    pub fn reads_weights(&self) -> bool {
        self.hyperparameters.get("weights").is_some_and(|value| *value == Value::Text("true".into()))
    }

    fn missing(&self, name: &str) -> OptionError {
        let valid = self.hyperparameters.keys().cloned().collect::<Vec<_>>().join(", ");
        OptionError::Unknown { model: self.model.to_owned(), name: name.into(), valid }
    }
}
