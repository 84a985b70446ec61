//! Transitivity.

use bonnet_graph::{Graph, Monitor, Stopped};

use crate::triangles::triangle_count;

/// The share of paths of length two whose endpoints are adjacent: three times the triangles over the paths; 0 without a path.
///
/// Newman, Watts and Strogatz, Random graph models of social networks (2002), Eq. 2. O(m sqrt(m)) time.
///
/// # Errors
/// If the monitor stops it.
pub fn transitivity(graph: &Graph, monitor: &dyn Monitor) -> Result<f64, Stopped> {
    // A triangle closes the three paths about its nodes.
    let closed: u64 = triangle_count(graph, monitor)?.into_iter().sum();
    let paths = (0..graph.n_nodes() as u32).map(|v| {
        let degree = graph.degree(v) as u64;
        degree * degree.saturating_sub(1) / 2
    });
    let paths: u64 = paths.sum();
    Ok(if paths == 0 { 0.0 } else { closed as f64 / paths as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn a_clique_is_transitive_a_star_is_not() {
        let of = |edges: &[(u32, u32)]| transitivity(&Graph::from_edges(5, edges), &Unmonitored).unwrap();
        assert_eq!(of(&[(0, 1), (0, 2), (1, 2)]), 1.0);
        assert_eq!(of(&[(0, 1), (0, 2), (0, 3)]), 0.0);
        assert_eq!(of(&[(0, 1), (0, 2), (1, 2), (2, 3)]), 0.6);
        assert_eq!(of(&[]), 0.0);
    }
}
