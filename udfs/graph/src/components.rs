//! Connected components by union-find.

use petgraph::unionfind::UnionFind;

use crate::Graph;

/// The components of a graph, numbered by falling size; among equal sizes, by their smallest node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    pub of_node: Vec<u32>,
    /// The number of nodes of each component.
    pub sizes: Vec<usize>,
}

/// The connected components of `graph`: 0 is the largest. O(n + m) time up to the inverse Ackermann factor.
pub fn connected_components(graph: &Graph) -> Components {
    let n = graph.n_nodes();
    let mut sets = UnionFind::<u32>::new(n);
    for (u, v) in graph.edges() {
        sets.union(u, v);
    }
    let representative = sets.into_labeling();

    // (size, smallest node) of each set, in order of the smallest node.
    let mut set_of_representative = vec![u32::MAX; n];
    let mut sets: Vec<(usize, u32)> = Vec::new();
    for v in 0..n as u32 {
        let slot = &mut set_of_representative[representative[v as usize] as usize];
        if *slot == u32::MAX {
            *slot = sets.len() as u32;
            sets.push((0, v));
        }
        sets[*slot as usize].0 += 1;
    }
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    order.sort_by_key(|&set| (std::cmp::Reverse(sets[set as usize].0), sets[set as usize].1));
    let mut rank = vec![0u32; sets.len()];
    for (position, &set) in order.iter().enumerate() {
        rank[set as usize] = position as u32;
    }
    let of_node = (0..n).map(|v| rank[set_of_representative[representative[v] as usize] as usize]).collect();
    Components { of_node, sizes: order.iter().map(|&set| sets[set as usize].0).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_component_comes_first_and_ties_go_to_the_smallest_node() {
        let graph = Graph::from_edges(8, &[(0, 1), (2, 3), (4, 5), (5, 6)]);
        let components = connected_components(&graph);
        assert_eq!(components.of_node, [1, 1, 2, 2, 0, 0, 0, 3]);
        assert_eq!(components.sizes, [3, 2, 2, 1]);
    }

    #[test]
    fn no_nodes_no_components() {
        let components = connected_components(&Graph::from_edges(0, &[]));
        assert!(components.of_node.is_empty() && components.sizes.is_empty());
    }
}
