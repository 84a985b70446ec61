//! Degree assortativity.

use bonnet_graph::Graph;

/// Pearson's correlation of the degrees at both endpoints of an edge, each edge taken both ways; `None` where all endpoints have the same
/// degree, or there is no edge.
///
/// Newman, Mixing patterns in networks (2003), Eq. 21. Sums of integers: O(n + m).
pub fn degree_assortativity(graph: &Graph) -> Option<f64> {
    let (mut ends, mut squares, mut products) = (0i128, 0i128, 0i128);
    for u in 0..graph.n_nodes() as u32 {
        let degree = graph.degree(u) as i128;
        ends += degree * degree;
        squares += degree * degree * degree;
        products += degree * graph.neighbors(u).iter().map(|&v| graph.degree(v) as i128).sum::<i128>();
    }
    let arcs = graph.targets().len() as i128;
    let variance = arcs * squares - ends * ends;
    (variance > 0).then(|| (arcs * products - ends * ends) as f64 / variance as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};

    #[test]
    fn assortativity_is_the_correlation_of_degrees() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let degree = |v: u32| graph.degree(v) as f64;
            let ends: Vec<(f64, f64)> =
                graph.edges().flat_map(|(u, v)| [(degree(u), degree(v)), (degree(v), degree(u))]).collect();
            let mean = ends.iter().map(|end| end.0).sum::<f64>() / ends.len() as f64;
            let covariance: f64 = ends.iter().map(|(a, b)| (a - mean) * (b - mean)).sum();
            let variance: f64 = ends.iter().map(|(a, _)| (a - mean) * (a - mean)).sum();
            match degree_assortativity(&graph) {
                Some(found) => assert_close(&[found], &[covariance / variance], &format!("graph {seed}")),
                None => assert!(ends.is_empty() || variance < 1e-9, "graph {seed}"),
            }
        }
        // A star: each endpoint of degree k meets one of degree 1.
        assert_eq!(degree_assortativity(&Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3)])), Some(-1.0));
    }
}
