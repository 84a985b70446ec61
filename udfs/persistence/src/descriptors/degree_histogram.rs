//! The histogram of the degrees of the nodes.

use bonnet_graph::Graph;

use super::shares;

/// The share of nodes of degree 0, 1, ..., up to the largest degree; they add up to 1. Empty without nodes. O(n) time.
pub fn degree_histogram(graph: &Graph) -> Vec<f64> {
    let degrees = || (0..graph.n_nodes() as u32).map(|v| graph.degree(v));
    let mut counts = vec![0u64; degrees().max().map_or(0, |largest| largest + 1)];
    degrees().for_each(|degree| counts[degree] += 1);
    shares(&counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_has_one_hub() {
        let star = Graph::from_edges(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
        assert_eq!(degree_histogram(&star), [0.0, 0.8, 0.0, 0.0, 0.2]);
    }

    #[test]
    fn isolated_nodes_have_degree_zero() {
        assert_eq!(degree_histogram(&Graph::from_edges(4, &[(0, 1)])), [0.5, 0.5]);
        assert!(degree_histogram(&Graph::from_edges(0, &[])).is_empty());
    }
}
