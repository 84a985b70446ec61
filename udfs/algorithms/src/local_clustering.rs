//! The local clustering coefficient.

use bonnet_graph::{Graph, Monitor, Stopped};

use crate::triangles::triangle_count;

/// The local clustering coefficient of every node: the share of pairs of its neighbours that are adjacent; 0 for fewer than two
/// neighbours.
///
/// Watts and Strogatz, Collective dynamics of small-world networks (1998). O(m sqrt(m)) time.
///
/// # Errors
/// If the monitor stops it.
pub fn local_clustering(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let share = |(v, triangles): (u32, u64)| match graph.degree(v) as u64 {
        0 | 1 => 0.0,
        degree => 2.0 * triangles as f64 / (degree * (degree - 1)) as f64,
    };
    Ok((0..).zip(triangle_count(graph, monitor)?).map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn a_triangle_with_a_tail() {
        let graph = Graph::from_edges(5, &[(0, 1), (0, 2), (1, 2), (2, 3)]);
        let third = 1.0 / 3.0;
        assert_eq!(local_clustering(&graph, &Unmonitored).unwrap(), [1.0, 1.0, third, 0.0, 0.0]);
    }
}
