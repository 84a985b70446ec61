//! Why an algorithm gave no answer.

use bonnet_graph::Stopped;

/// Why an algorithm gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AlgorithmError {
    /// The host stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A parameter or the graph is outside what the algorithm is defined for; the text says what, and what to do.
    #[error("{0}")]
    Input(String),
}

impl AlgorithmError {
    /// The error of a parameter or a graph that the algorithm is not defined for.
    pub fn input<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self::Input(text.into()))
    }
}
