//! Degree centrality.

use crate::Network;

/// Which arcs of a node count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// Arcs that leave and arcs that arrive; of an undirected graph, each edge once.
    #[default]
    Both,
    /// Arcs that leave.
    Out,
    /// Arcs that arrive.
    Into,
}

/// The number of arcs of every node over the number of other nodes; 1 in a graph of one node, as networkx has it.
///
/// Freeman, Centrality in social networks (1978). O(n).
pub fn degree_centrality(network: Network<'_>, direction: Direction) -> Vec<f64> {
    let n = network.n_nodes();
    if n == 1 {
        return vec![1.0];
    }
    let degree = |v: u32| match direction {
        Direction::Both if network.directed => network.out.degree(v) + network.into.degree(v),
        Direction::Both | Direction::Out => network.out.degree(v),
        Direction::Into => network.into.degree(v),
    };
    (0..n as u32).map(|v| degree(v) as f64 / (n - 1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::{Digraph, Graph};

    #[test]
    fn degrees_are_shares_of_the_other_nodes() {
        let rows = [(0, 1), (1, 0), (1, 2), (1, 1)];
        let graph = Graph::from_edges(3, &rows);
        assert_eq!(degree_centrality(Network::undirected(&graph), Direction::Both), [0.5, 1.0, 0.5]);
        let out = Digraph::from_arcs(3, &rows);
        let into = out.reversed();
        let of = |direction| degree_centrality(Network::directed(&out, &into), direction);
        assert_eq!(of(Direction::Both), [1.0, 1.5, 0.5]);
        assert_eq!(of(Direction::Out), [0.5, 1.0, 0.0]);
        assert_eq!(of(Direction::Into), [0.5, 0.5, 0.5]);
        let single = Graph::from_edges(1, &[]);
        assert_eq!(degree_centrality(Network::undirected(&single), Direction::Out), [1.0]);
    }
}
