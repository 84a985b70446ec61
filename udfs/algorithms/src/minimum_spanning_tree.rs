//! Minimum spanning trees.

use bonnet_graph::petgraph::Undirected;
use bonnet_graph::petgraph::algo::min_spanning_tree;
use bonnet_graph::petgraph::data::Element;
use bonnet_graph::{Monitor, Reservation, Stopped, View, watched};

use crate::Network;

/// Whether each arc of an undirected graph is in its minimum spanning forest, both arcs of an edge or neither: edges
/// that join what paths join, with the least sum of weights. By petgraph's `min_spanning_tree` (Kruskal): O(m log m).
///
/// # Errors
/// If the monitor stops it.
pub fn minimum_spanning_tree(network: Network<'_>, monitor: &dyn Monitor) -> Result<Vec<bool>, Stopped> {
    let (n, arcs) = (network.n_nodes(), network.out.n_arcs());
    let _reservation = Reservation::new(monitor, 48 * n + 24 * (arcs / 2) + arcs)?;
    let view = View::undirected((network.out.offsets(), network.out.targets()));
    match network.out.weights() {
        Some(weights) => watched(view.weighted(weights), monitor, |view| marked(network, view)),
        None => watched(view, monitor, |view| marked(network, view)),
    }
}

fn marked<W: Copy + PartialOrd>(network: Network<'_>, view: View<'_, Undirected, W>) -> Vec<bool> {
    let mut marked = vec![false; network.out.n_arcs()];
    for element in min_spanning_tree(view) {
        if let Element::Edge { source, target, .. } = element {
            for (u, v) in [(source, target), (target, source)] {
                let at = network.out.of(u as u32).partition_point(|&w| (w as usize) < v);
                marked[network.out.offsets()[u] + at] = true;
            }
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WeightedArcs, testing};
    use bonnet_graph::{Graph, Unmonitored, connected_components};

    #[test]
    fn no_forest_that_joins_the_same_is_lighter() {
        for seed in 0..200 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.min(7);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let graph = Graph::from_edges(n, &rows);
            let edges: Vec<(u32, u32)> = graph.edges().take(14).collect();
            let graph = Graph::from_edges(n, &edges);
            let weight = |u: u32, v: u32| f64::from((u * v * 5 + u + v) % 7) - 2.0;
            let both = edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).map(|(u, v)| (u, v, weight(u, v)));
            let weighted = WeightedArcs::new(n, both).unwrap();
            let found = minimum_spanning_tree(Network::weighted(&weighted, None), &Unmonitored).unwrap();
            let components = connected_components(&graph);
            let count = n - components.sizes.len();
            let sum = |edges: &[(u32, u32)]| edges.iter().map(|&(u, v)| weight(u, v)).sum::<f64>();
            let best = (0u32..1 << edges.len())
                .filter(|set| set.count_ones() as usize == count)
                .map(|set| (0..edges.len()).filter(|i| set >> i & 1 == 1).map(|i| edges[i]).collect::<Vec<_>>())
                .filter(|set| connected_components(&Graph::from_edges(n, set)).of_node == components.of_node)
                .map(|set| sum(&set))
                .fold(f64::INFINITY, f64::min);
            let arcs = (0..n as u32).flat_map(|u| graph.neighbors(u).iter().map(move |&v| (u, v)));
            let tree: Vec<_> = arcs.zip(&found).filter(|(_, chosen)| **chosen).map(|(arc, _)| arc).collect();
            assert!(tree.iter().all(|&(u, v)| tree.contains(&(v, u))));
            let tree: Vec<_> = tree.into_iter().filter(|(u, v)| u < v).collect();
            assert_eq!((tree.len(), sum(&tree)), (count, best), "graph {seed}");
            let unweighted = minimum_spanning_tree(Network::undirected(&graph), &Unmonitored).unwrap();
            assert_eq!(unweighted.iter().filter(|&&chosen| chosen).count(), 2 * count);
        }
    }
}
