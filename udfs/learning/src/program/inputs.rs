//! What a program is written for.

use std::sync::Arc;

use crate::data::Features;

/// What a program is written for: the nodes with their features, and where its passes run.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The number of nodes.
    pub n_nodes: usize,
    /// The input of the first layer; never [`Features::None`].
    pub features: Arc<Features>,
    /// The number of outputs of a node.
    pub n_outputs: usize,
    /// The nodes whose classes may be read beside the features, with their classes.
    pub known_labels: Arc<[(u32, u32)]>,
    /// The probability that one of them is read in a pass of training; 0 where none ever is.
    pub label_rate: f64,
    /// Draws dropout masks.
    pub seed: u64,
    /// Whether the passes are a device's: then a program has no buffers on the host.
    pub device: bool,
}
