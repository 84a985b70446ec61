//! The local clustering coefficient.

use bonnet_graph::{Digraph, Graph, Monitor, Stopped};

use crate::triangles::{arcs_between_neighbors, triangle_count};

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

/// The local clustering coefficient of every node of a directed graph: its neighbours are the nodes that an arc joins it with,
/// either way, and the coefficient is the share of the arcs that could be between them; 0 for fewer than two neighbours.
/// `graph` is that of the arcs without directions.
///
/// Iosup et al., LDBC Graphalytics (2016), algorithm LCC. O(m sqrt(m)) time.
///
/// # Errors
/// If the monitor stops it.
pub fn directed_local_clustering(graph: &Graph, arcs: &Digraph, monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let share = |(v, arcs): (u32, u64)| match graph.degree(v) as u64 {
        0 | 1 => 0.0,
        degree => arcs as f64 / (degree * (degree - 1)) as f64,
    };
    Ok((0..).zip(arcs_between_neighbors(graph, arcs, monitor)?).map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    #[test]
    fn arcs_between_neighbours_are_counted_one_by_one() {
        for seed in 0..100 {
            let (n, rows) = testing::rows(seed);
            let (graph, arcs) = (Graph::from_edges(n, &rows), Digraph::from_arcs(n, &rows));
            let found = directed_local_clustering(&graph, &arcs, &Unmonitored).unwrap();
            for v in 0..n as u32 {
                let around = graph.neighbors(v);
                let pairs = around.iter().flat_map(|&a| around.iter().map(move |&b| (a, b)));
                let there = pairs.filter(|&(a, b)| arcs.successors(a).contains(&b)).count();
                let could = (around.len() * around.len().saturating_sub(1)).max(1);
                assert_eq!(found[v as usize], there as f64 / could as f64, "node {v} of graph {seed}");
            }
        }
    }

    #[test]
    fn a_triangle_with_a_tail() {
        let graph = Graph::from_edges(5, &[(0, 1), (0, 2), (1, 2), (2, 3)]);
        let third = 1.0 / 3.0;
        assert_eq!(local_clustering(&graph, &Unmonitored).unwrap(), [1.0, 1.0, third, 0.0, 0.0]);
    }
}
