//! Communities: groups of nodes with more edges inside than between them.

mod aggregate;
mod batched_moves;
mod encoding_tree;
mod label_propagation;
mod leiden;
mod local_moves;
mod louvain;
mod modularity;
mod neighbor_weights;
mod structural_entropy;

pub use encoding_tree::{EncodingTree, encoding_tree};
pub use label_propagation::{LabelPropagation, label_propagation_communities};
pub use leiden::leiden;
pub use louvain::louvain;
pub use modularity::modularity;
pub use structural_entropy::{CommunityEntropy, one_dimensional_entropy};

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

/// The same communities numbered by falling size; among equal sizes, by their smallest node.
fn by_size(community: &[u32]) -> Vec<u32> {
    let count = community.iter().map(|&c| c as usize + 1).max().unwrap_or(0);
    let mut sizes = vec![(0usize, usize::MAX, 0u32); count];
    for (v, &c) in community.iter().enumerate() {
        let of_c = &mut sizes[c as usize];
        *of_c = (of_c.0 + 1, of_c.1.min(v), c);
    }
    sizes.retain(|size| size.0 > 0);
    sizes.sort_unstable_by_key(|&(size, first, _)| (std::cmp::Reverse(size), first));
    let mut rank = vec![0u32; count];
    sizes.iter().zip(0..).for_each(|(&(_, _, c), number)| rank[c as usize] = number);
    community.iter().map(|&c| rank[c as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communities_are_numbered_by_size_then_by_smallest_node() {
        assert_eq!(by_size(&[9, 4, 4, 7, 9, 2]), [0, 1, 1, 2, 0, 3]);
        assert!(by_size(&[]).is_empty());
    }
}
