//! Options that name a node.

use bonnet_sql::{InputGraph, KeyIndex, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Failure, wrong};

/// The key of a node, as a call gives it: a whole number or a string.
#[derive(Debug, Clone)]
pub(super) struct NodeOption {
    name: &'static str,
    key: OptionValue,
}

impl NodeOption {
    /// A parameter that takes the key of a node.
    pub(super) fn parameter(name: &'static str, description: &'static str) -> Parameter {
        Parameter::number_or_text(name, description)
    }

    /// The key that a call gives.
    ///
    /// # Errors
    /// Without a key, and for a number that is not whole.
    pub(super) fn bind(options: &Options, name: &'static str) -> Result<Self> {
        let key = match options.get(name) {
            Some(OptionValue::Number(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
                OptionValue::Integer(*number as i64)
            }
            Some(key @ (OptionValue::Integer(_) | OptionValue::Text(_))) => key.clone(),
            Some(other) => {
                return usage_error(format!(
                    "{name} => {other}: expected the key of a node, a text or a whole number below 9e15"
                ));
            }
            None => return usage_error(format!("{name} => ... is missing: give the key of a node")),
        };
        Ok(Self { name, key })
    }

    /// The number of the node in a graph.
    ///
    /// # Errors
    /// If the graph has no such node.
    pub(super) fn number(&self, graph: &InputGraph) -> Result<u32, Failure> {
        self.find(&graph.keys)
    }

    fn find(&self, keys: &KeyIndex) -> Result<u32, Failure> {
        let (name, key) = (self.name, &self.key);
        let found = match (keys, key) {
            (KeyIndex::Integer { keys, .. }, OptionValue::Integer(key)) => {
                keys.binary_search(key).ok().map(|number| number as u32)
            }
            (KeyIndex::Text { numbers, .. }, OptionValue::Text(key)) => numbers.get(key.as_str()).copied(),
            (KeyIndex::Integer { .. }, key) => {
                return wrong(format!("{name} => {key} is a text, and the nodes' keys are integers"));
            }
            (KeyIndex::Text { .. }, key) => {
                return wrong(format!("{name} => {key} is a number, and the nodes' keys are text: write '{key}'"));
            }
        };
        match found {
            Some(number) => Ok(number),
            None => wrong(format!(
                "{name} => {key} is not a node of the graph: it is on no edge. Give a node that is, or add it with \
                 nodes => ..."
            )),
        }
    }
}
