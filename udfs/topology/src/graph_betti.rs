//! The Betti numbers of a graph.

use bonnet_graph::{Graph, connected_components};

/// The Betti numbers of a graph as a complex of dimension 1: its components c, and m - n + c independent cycles.
/// O(n + m) time and memory.
pub fn graph_betti(graph: &Graph) -> [u64; 2] {
    let components = connected_components(graph).sizes.len();
    [components as u64, (graph.n_edges() + components - graph.n_nodes()) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facets, homology};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    #[test]
    fn forests_have_no_cycle_and_cycles_have_one() {
        assert_eq!(graph_betti(&Graph::from_edges(6, &[(0, 1), (0, 2), (3, 4)])), [3, 0]);
        assert_eq!(graph_betti(&Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0), (0, 1), (1, 1)])), [1, 1]);
        assert_eq!(graph_betti(&Graph::from_edges(0, &[])), [0, 0]);
    }

    proptest! {
        #[test]
        fn they_are_those_of_the_complex(edges in proptest::collection::vec((0u32..12, 0u32..12), 0..40)) {
            let graph = Graph::from_edges(12, &edges);
            let mut facets: Vec<Vec<i64>> = (0..12).map(|v| vec![v]).collect();
            facets.extend(graph.edges().map(|(u, v)| vec![i64::from(u), i64::from(v)]));
            let homology = homology(&Facets::new(&facets).unwrap(), &Unmonitored).unwrap();
            let betti = homology.betti_numbers();
            prop_assert_eq!(graph_betti(&graph), [betti[0], betti.get(1).copied().unwrap_or(0)]);
        }
    }
}
