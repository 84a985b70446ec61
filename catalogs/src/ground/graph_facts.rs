//! What is known of a graph beside its tables.

use serde::{Deserialize, Serialize};

/// The facts of a graph that its tables do not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphFacts {
    /// Whether the rows of `edges` are arcs.
    pub directed: bool,
    /// The call that made the graph.
    pub generator: String,
}
