//! Structural entropy.

use bonnet_graph::Network;

/// The figures of communities in the structural entropy of an undirected graph, one a community.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommunityEntropy {
    /// The sum of the strengths of its nodes (degrees, without weights).
    pub volume: Vec<f64>,
    /// The weight of the edges that leave it.
    pub cut: Vec<f64>,
    /// Its part of the two-dimensional structural entropy, in bits: `-(g / 2m) log2(V / 2m) - sum over its nodes of (d / 2m) log2(d / V)`,
    /// where g is its cut, V its volume, d the strength of a node and 2m that of all nodes.
    pub entropy: Vec<f64>,
}

impl CommunityEntropy {
    /// Of the communities `0..count` of the nodes. O(n + m).
    ///
    /// # Panics
    /// If there is not a community below `count` for each node.
    pub fn of(network: Network<'_>, community: &[u32], count: usize) -> Self {
        assert_eq!(community.len(), network.n_nodes(), "a community for each node");
        let (mut volume, mut cut) = (vec![0.0; count], vec![0.0; count]);
        for (v, &own) in (0u32..).zip(community) {
            for (u, weight) in network.out.weighted(v) {
                volume[own as usize] += weight;
                if community[u as usize] != own {
                    cut[own as usize] += weight;
                }
            }
        }
        let total: f64 = volume.iter().sum();
        let mut entropy: Vec<f64> = cut.iter().zip(&volume).map(|(cut, volume)| bits(*cut, *volume, total)).collect();
        for (v, &own) in (0u32..).zip(community) {
            let strength = network.out.strength(v);
            // Along the community's share, so that a node alone has no part of its own.
            entropy[own as usize] +=
                bits(strength, strength, volume[own as usize]) * share(volume[own as usize], total);
        }
        Self { volume, cut, entropy }
    }
}

/// `-(part / total) log2(inner / total)`; 0 for no part.
fn bits(part: f64, inner: f64, total: f64) -> f64 {
    // A logarithm of 1 is 0 and not -0.
    if part > 0.0 && inner < total { -share(part, total) * (inner / total).log2() } else { 0.0 }
}

fn share(part: f64, total: f64) -> f64 {
    if total > 0.0 { part / total } else { 0.0 }
}

/// The one-dimensional structural entropy of an undirected graph, in bits: `-sum of (d / 2m) log2(d / 2m)` over its nodes, the entropy of
/// the node at which a random walk is; `None` without weight.
///
/// Li and Pan, Structural information and dynamical complexity of networks (2016), Definition 1. O(n + m).
pub fn one_dimensional_entropy(network: Network<'_>) -> Option<f64> {
    let strengths = || (0..network.n_nodes() as u32).map(|v| network.out.strength(v));
    let total: f64 = strengths().sum();
    (total > 0.0).then(|| strengths().map(|strength| bits(strength, strength, total)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};
    use bonnet_graph::Graph;

    #[test]
    fn entropies_are_the_sums_of_their_definitions() {
        for seed in 0..100 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let network = Network::undirected(&graph);
            let community: Vec<u32> = (0..n as u32).map(|v| (v * v + 1) % 4).collect();
            let double = 2.0 * graph.n_edges() as f64;
            let found = CommunityEntropy::of(network, &community, 4);
            if double == 0.0 {
                assert_eq!((one_dimensional_entropy(network), found.entropy), (None, vec![0.0; 4]));
                continue;
            }
            let degree = |v: u32| graph.degree(v) as f64;
            let log = |x: f64| if x > 0.0 { x.log2() } else { 0.0 };
            let one = (0..n as u32).map(|v| -degree(v) / double * log(degree(v) / double)).sum();
            assert_close(&[one_dimensional_entropy(network).unwrap()], &[one], &format!("graph {seed}"));
            for c in 0..4 {
                let members: Vec<u32> = (0..n as u32).filter(|&v| community[v as usize] == c).collect();
                let volume: f64 = members.iter().map(|&v| degree(v)).sum();
                let leaves = |&v: &u32| graph.neighbors(v).iter().filter(|&&u| community[u as usize] != c).count();
                let cut = members.iter().map(leaves).sum::<usize>() as f64;
                let inside: f64 = members.iter().map(|&v| -degree(v) / double * log(degree(v) / volume)).sum();
                let expected = [volume, cut, inside - cut / double * log(volume / double)];
                let c = c as usize;
                assert_close(&[found.volume[c], found.cut[c], found.entropy[c]], &expected, &format!("graph {seed}"));
            }
        }
    }

    #[test]
    fn closed_forms() {
        // A regular graph: log2 n. All in one community, or each in one of its own: the same.
        let edges: Vec<(u32, u32)> = (0..8).map(|v| (v, (v + 1) % 8)).collect();
        let graph = Graph::from_edges(8, &edges);
        let network = Network::undirected(&graph);
        assert_eq!(one_dimensional_entropy(network), Some(3.0));
        assert_eq!(CommunityEntropy::of(network, &[0; 8], 1).entropy, [3.0]);
        let alone: Vec<u32> = (0..8).collect();
        assert_eq!(CommunityEntropy::of(network, &alone, 8).entropy, [0.375; 8]);
        // A star: its centre has half of all degrees.
        let star = Graph::from_edges(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
        assert_eq!(one_dimensional_entropy(Network::undirected(&star)), Some(0.5 + 0.5 * 3.0));
    }
}
