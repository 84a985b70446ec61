//! Communities: groups of nodes with more edges inside than between them.

mod aggregate;
mod batched_moves;
mod label_propagation;
mod leiden;
mod local_moves;
mod louvain;
mod modularity;
mod neighbor_weights;

pub use label_propagation::{LabelPropagation, label_propagation_communities};
pub use leiden::leiden;
pub use louvain::louvain;
pub use modularity::modularity;

use bonnet_graph::random::shuffle;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::AlgorithmError;

/// Options of [`louvain`] and [`leiden`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommunityOptions {
    /// The larger, the smaller the communities; 1 is plain modularity. Positive.
    pub resolution: f64,
    /// Seed of the order in which nodes are looked at.
    pub seed: u64,
}

impl Default for CommunityOptions {
    fn default() -> Self {
        Self { resolution: 1.0, seed: 0 }
    }
}

impl CommunityOptions {
    /// Fails where an option is out of its range.
    ///
    /// # Errors
    /// Says which.
    pub fn validate(&self) -> Result<(), AlgorithmError> {
        match self.resolution > 0.0 && self.resolution.is_finite() {
            true => Ok(()),
            false => AlgorithmError::input(format!("resolution => {:?}: expected a positive number", self.resolution)),
        }
    }
}

/// The nodes in a random order. Of many, those that lie together in memory stay together, 64 at a time.
fn random_order(n: usize, random: &mut ChaCha8Rng) -> Vec<u32> {
    let together = if n < 1 << 14 { 1 } else { 64 };
    let mut blocks: Vec<usize> = (0..n.div_ceil(together)).collect();
    shuffle(&mut blocks, || random.next_u64());
    let nodes = |block: usize| (block * together) as u32..n.min((block + 1) * together) as u32;
    blocks.into_iter().flat_map(nodes).collect()
}
