//! The histogram of the clustering coefficients of the nodes.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::ranked::Ranked;
use super::shares;

/// The number of bins of [`clustering_histogram`].
pub const CLUSTERING_BINS: usize = 100;

/// The share of nodes whose local clustering coefficient, triangles over pairs of neighbours (Watts and Strogatz 1998),
/// lies in each of 100 equal bins of [0, 1], the last one closed; they add up to 1. Nodes of degree 0 and 1 have 0. A
/// coefficient on the border of two bins counts in the upper one, exactly: the comparison is one of integers.
///
/// O(m^1.5) time; about 24 n + 24 m bytes.
///
/// # Errors
/// The monitor stopped the work.
pub fn clustering_histogram(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let (n, m) = (graph.n_nodes(), graph.n_edges());
    let _held = Reservation::new(monitor, Ranked::bytes(n, m) + 8 * m + 16 * n)?;
    let ranked = Ranked::new(graph);
    let triangles = ranked.node_triangles(&ranked.edge_triangles(monitor)?);
    let mut counts = vec![0u64; CLUSTERING_BINS];
    for (v, &triangles) in triangles.iter().enumerate() {
        let degree = ranked.graph.degree(v as u32) as u64;
        let pairs = (degree * degree.saturating_sub(1) / 2).max(1);
        let bin = u128::from(triangles) * CLUSTERING_BINS as u128 / u128::from(pairs);
        counts[(bin as usize).min(CLUSTERING_BINS - 1)] += 1;
    }
    Ok(shares(&counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn bins(n: usize, edges: &[(u32, u32)]) -> Vec<(usize, f64)> {
        let histogram = clustering_histogram(&Graph::from_edges(n, edges), &Unmonitored).unwrap();
        assert_eq!(histogram.len(), CLUSTERING_BINS);
        histogram.into_iter().enumerate().filter(|(_, share)| *share > 0.0).collect()
    }

    #[test]
    fn a_triangle_with_a_tail_has_coefficients_of_1_and_a_third_and_0() {
        assert_eq!(bins(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]), [(0, 0.25), (33, 0.25), (99, 0.5)]);
    }

    #[test]
    fn trees_have_none_and_no_nodes_give_zeros() {
        assert_eq!(bins(4, &[(0, 1), (1, 2), (1, 3)]), [(0, 1.0)]);
        assert_eq!(bins(0, &[]), []);
    }

    #[test]
    fn the_karate_club_is_as_networkx_says() {
        // numpy.histogram(list(networkx.clustering(networkx.karate_club_graph()).values()), bins=100, range=(0, 1)).
        let expected = KARATE;
        let histogram = bins(34, crate::descriptors::testing::KARATE);
        assert_eq!(
            histogram.iter().map(|(bin, share)| (*bin, (share * 34.0).round() as u64)).collect::<Vec<_>>(),
            expected
        );
    }

    const KARATE: &[(usize, u64)] = &[
        (0, 2),
        (11, 1),
        (15, 1),
        (16, 1),
        (19, 1),
        (20, 1),
        (24, 1),
        (33, 5),
        (40, 1),
        (50, 4),
        (60, 1),
        (66, 4),
        (99, 11),
    ];
}
