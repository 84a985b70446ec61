//! Modularity.

use crate::Network;

/// The modularity of communities of an undirected graph: the share of the weight of edges that is within communities, less what it would
/// be by chance at the same strengths, times `resolution`; `None` for a graph without weight.
///
/// Newman and Girvan, Finding and evaluating community structure in networks (2004); the resolution of Reichardt and Bornholdt
/// (2006). O(n + m).
///
/// # Panics
/// If there is not a community for each node.
pub fn modularity(network: Network<'_>, community: &[u32], resolution: f64) -> Option<f64> {
    assert_eq!(community.len(), network.n_nodes(), "a community for each node");
    let count = community.iter().map(|&c| c as usize + 1).max().unwrap_or(0);
    let (mut inside, mut strength) = (0.0, vec![0.0; count]);
    for v in 0..network.n_nodes() as u32 {
        let own = community[v as usize];
        for (u, weight) in network.out.weighted(v) {
            strength[own as usize] += weight;
            if community[u as usize] == own {
                inside += weight;
            }
        }
    }
    let total: f64 = strength.iter().sum();
    let chance: f64 = strength.iter().map(|strength| (strength / total) * (strength / total)).sum();
    (total > 0.0).then(|| inside / total - resolution * chance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};
    use bonnet_graph::Graph;

    #[test]
    fn modularity_is_a_sum_over_pairs() {
        for seed in 0..100 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let community: Vec<u32> = (0..n as u32).map(|v| (v * v + 1) % 4).collect();
            let m = graph.n_edges() as f64;
            // Newman and Girvan's sum over pairs of nodes of one community.
            let mut expected = 0.0;
            for (u, v) in (0..n as u32).flat_map(|u| (0..n as u32).map(move |v| (u, v))) {
                if community[u as usize] == community[v as usize] {
                    let chance = (graph.degree(u) * graph.degree(v)) as f64 / (2.0 * m);
                    expected += (f64::from(u8::from(graph.has_edge(u, v))) - 1.5 * chance) / (2.0 * m);
                }
            }
            match modularity(Network::undirected(&graph), &community, 1.5) {
                Some(found) => assert_close(&[found], &[expected], &format!("graph {seed}")),
                None => assert_eq!(m, 0.0),
            }
        }
    }
}
