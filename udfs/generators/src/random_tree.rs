//! Uniform labelled trees.

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::error::require_nodes;
use crate::random::{Random, Stream};
use crate::{Error, Generated};

/// A tree drawn uniformly from the n^(n - 2) trees on the nodes `0..n`.
///
/// Draws a Pruefer sequence (Pruefer 1918: sequences of n - 2 nodes and labelled trees are in bijection) and decodes it
/// with one moving pointer to the smallest leaf: O(n) time and memory.
///
/// # Errors
/// `n` outside of 1..=4,294,967,295, or the monitor stopped the work.
pub fn random_tree(n: usize, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("random_tree", "n", n, 1)?;
    let mut random = Random::new(seed, Stream::RandomTree);
    let mut reservation = Reservation::new(monitor, 0)?;
    monitor.expect(n as u64);
    let mut sequence: Vec<u32> = zeros(n.saturating_sub(2), &mut reservation)?;
    for block in sequence.chunks_mut(1 << 15) {
        monitor.check()?;
        block.iter_mut().for_each(|entry| *entry = random.below(n as u64) as u32);
    }
    let edges = decode(n, &sequence, &mut reservation, monitor)?.into_sorted(n)?;
    monitor.advance(n as u64);
    Ok(Generated::unlabelled(n, edges))
}

/// The edges of the tree that a Pruefer sequence of `n - 2` nodes (none for n < 2) stands for.
fn decode<'a>(
    n: usize,
    sequence: &[u32],
    reservation: &mut Reservation<'a>,
    monitor: &'a dyn Monitor,
) -> Result<EdgeList<'a>, Error> {
    let mut edges = EdgeList::with_room_for(n.saturating_sub(1) as u128, monitor)?;
    if n < 2 {
        return Ok(edges);
    }
    // How often each node is still to come: a node that comes no more is a leaf.
    let mut to_come: Vec<u32> = zeros(n, reservation)?;
    sequence.iter().for_each(|&node| to_come[node as usize] += 1);
    let next_leaf = |to_come: &[u32], from: usize| (from..n).find(|&v| to_come[v] == 0).unwrap_or(n - 1);
    let mut pointer = next_leaf(&to_come, 0);
    let mut leaf = pointer;
    for &node in sequence {
        edges.push(leaf as u32, node)?;
        to_come[node as usize] -= 1;
        // The leaf is cut off. A node that has become a leaf below the pointer is now the smallest.
        if to_come[node as usize] == 0 && (node as usize) < pointer {
            leaf = node as usize;
        } else {
            pointer = next_leaf(&to_come, pointer + 1);
            leaf = pointer;
        }
    }
    edges.push(leaf as u32, n as u32 - 1)?;
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{fingerprint, n_components};
    use bonnet_graph::Unmonitored;
    use std::collections::HashMap;

    fn random_tree(n: usize, seed: u64) -> Generated {
        super::random_tree(n, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn a_tree_is_connected_and_has_one_edge_less_than_nodes() {
        for n in [1, 2, 3, 4, 10, 1000] {
            for seed in 0..20 {
                let tree = random_tree(n, seed);
                assert_eq!((tree.n_nodes, tree.edges.len(), n_components(&tree)), (n, n - 1, 1));
            }
        }
    }

    /// Pruefer's rule taken literally: join the smallest node that is neither used nor to come with the next entry.
    fn decode_literally(n: usize, sequence: &[u32]) -> Vec<(u32, u32)> {
        let mut left: Vec<u32> = (0..n as u32).collect();
        let mut edges = Vec::new();
        for (i, &node) in sequence.iter().enumerate() {
            let leaf = *left.iter().find(|v| !sequence[i..].contains(v)).unwrap();
            left.retain(|&v| v != leaf);
            edges.push((leaf.min(node), leaf.max(node)));
        }
        edges.push((left[0], left[1]));
        edges.sort_unstable();
        edges
    }

    #[test]
    fn all_sequences_of_six_nodes_decode_by_the_rule_and_to_different_trees() {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let mut trees = std::collections::HashSet::new();
        for code in 0..6u32.pow(4) {
            let sequence: Vec<u32> = (0..4).map(|digit| code / 6u32.pow(digit) % 6).collect();
            let edges = decode(6, &sequence, &mut reservation, &Unmonitored).unwrap().into_sorted(6).unwrap();
            assert_eq!(edges, decode_literally(6, &sequence));
            trees.insert(edges);
        }
        assert_eq!(trees.len(), 1296);
    }

    #[test]
    fn the_sixteen_trees_on_four_nodes_are_equally_likely() {
        let seeds = 16_000;
        let mut counts: HashMap<Vec<(u32, u32)>, u32> = HashMap::new();
        (0..seeds).for_each(|seed| *counts.entry(random_tree(4, seed).edges).or_default() += 1);
        assert_eq!(counts.len(), 16);
        let chi_square: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 37.7, "{chi_square}: the 99.9 % point of 15 degrees of freedom is 37.7");
    }

    #[test]
    fn a_seed_pins_the_tree() {
        let fingerprints = [0, 1].map(|seed| fingerprint(&random_tree(1000, seed)));
        assert_eq!(fingerprints, [0x7f7e_5e1b_c22b_798b, 0xda1c_05ab_508e_a8cf]);
    }

    #[test]
    fn no_nodes_are_no_tree() {
        let error = super::random_tree(0, 0, &Unmonitored).unwrap_err();
        assert_eq!(error.to_string(), "random_tree: n is 0, but must be from 1 to 4294967295");
    }
}
