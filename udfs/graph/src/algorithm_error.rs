//! Why an algorithm gave no answer.

use crate::Stopped;

/// Why an algorithm gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AlgorithmError {
    /// The host stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A parameter or the graph is outside what the algorithm is defined for; the message says what, and what to do.
    #[error("{0}")]
    Input(String),
    /// Some nodes stand in the way; the message says how, and ends where they are to be named.
    #[error("{text}: nodes {nodes:?}")]
    Nodes {
        /// The cause, and what to do.
        text: String,
        /// The nodes by their numbers, in an order that means something.
        nodes: Vec<u32>,
    },
}

impl AlgorithmError {
    /// The error of a parameter or a graph that the algorithm is not defined for.
    pub fn input<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self::Input(text.into()))
    }

    /// The error of a graph in which some nodes stand in the way.
    pub fn nodes(text: impl Into<String>, nodes: Vec<u32>) -> Self {
        Self::Nodes { text: text.into(), nodes }
    }
}
