//! Embeddings of nodes: a vector for each, by which near or alike nodes are near.

mod adjacency_svd;
mod skip_gram;
#[cfg(test)]
mod tests;

pub use adjacency_svd::adjacency_svd;
pub use skip_gram::{SkipGramOptions, skip_gram};

use bonnet_graph::{Monitor, Reservation};

use crate::{AlgorithmError, Network, WalkOptions, random_walks};

/// The vectors of a skip-gram model over [`random_walks`] from every node, `options.dimension` numbers each, one node after the other.
///
/// Perozzi, Al-Rfou and Skiena, DeepWalk (2014), with `p` and `q` of 1; Grover and Leskovec, node2vec (2016). Both with negative sampling.
/// Costs those of walks and of the model; 4 bytes a step of a walk.
///
/// # Errors
/// Those of [`random_walks`] and [`skip_gram`].
pub fn walk_embedding(
    network: Network<'_>,
    walks: &WalkOptions,
    options: &SkipGramOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f32>, AlgorithmError> {
    options.validate()?;
    let n = network.n_nodes();
    let steps = n.saturating_mul(walks.walks);
    let bytes = walks.length.saturating_add(1).saturating_mul(4).saturating_add(size_of::<Vec<u32>>());
    let _reservation = Reservation::new(monitor, steps.saturating_mul(bytes))?;
    let sources: Vec<u32> = (0..n as u32).collect();
    let walks = random_walks(network, &sources, walks, monitor)?;
    skip_gram(&walks, n, options, monitor)
}
