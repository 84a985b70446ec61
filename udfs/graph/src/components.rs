//! Connected components by search.

use std::convert::Infallible;

use crate::{Graph, Monitor, Stopped};

/// The components of a graph, numbered by falling size; among equal sizes, by their smallest node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    pub of_node: Vec<u32>,
    /// The number of nodes of each component.
    pub sizes: Vec<usize>,
}

/// The connected components of `graph`: 0 is the largest. O(n + m) time, 12 n bytes. Not petgraph's `connected_components`,
/// which says how many there are, and not which nodes are in them.
pub fn connected_components(graph: &Graph) -> Components {
    let Ok(components) = search(graph, || Ok::<_, Infallible>(()));
    components
}

/// The same with a monitor, which is asked every million arcs.
///
/// # Errors
/// If the monitor stops it.
pub fn watched_components(graph: &Graph, monitor: &dyn Monitor) -> Result<Components, Stopped> {
    search(graph, || monitor.check())
}

/// Arcs between two checks.
const ARCS: usize = 1 << 20;

fn search<E>(graph: &Graph, mut check: impl FnMut() -> Result<(), E>) -> Result<Components, E> {
    let n = graph.n_nodes();
    let mut of_node = vec![u32::MAX; n];
    let mut sizes: Vec<usize> = Vec::new();
    let mut found: Vec<u32> = Vec::with_capacity(n);
    let mut arcs = 0;
    // In order of their smallest nodes.
    for start in 0..n as u32 {
        if of_node[start as usize] != u32::MAX {
            continue;
        }
        let component = sizes.len() as u32;
        of_node[start as usize] = component;
        let first = found.len();
        let mut head = first;
        found.push(start);
        while head < found.len() {
            let neighbors = graph.neighbors(found[head]);
            arcs += neighbors.len();
            if arcs >= ARCS {
                check()?;
                arcs = 0;
            }
            for &y in neighbors {
                if of_node[y as usize] == u32::MAX {
                    of_node[y as usize] = component;
                    found.push(y);
                }
            }
            head += 1;
        }
        sizes.push(found.len() - first);
    }
    let mut order: Vec<u32> = (0..sizes.len() as u32).collect();
    order.sort_by_key(|&component| std::cmp::Reverse(sizes[component as usize]));
    let mut rank = vec![0u32; sizes.len()];
    for (position, &component) in order.iter().enumerate() {
        rank[component as usize] = position as u32;
    }
    of_node.iter_mut().for_each(|component| *component = rank[*component as usize]);
    Ok(Components { of_node, sizes: order.iter().map(|&component| sizes[component as usize]).collect() })
}

/// Groups of nodes, numbered in any way, by falling size; among equal sizes, by their smallest node. O(n log n).
pub fn by_size(group: &[u32]) -> Vec<u32> {
    let count = group.iter().map(|&c| c as usize + 1).max().unwrap_or(0);
    let mut sizes = vec![(0usize, usize::MAX, 0u32); count];
    for (v, &c) in group.iter().enumerate() {
        let of_c = &mut sizes[c as usize];
        *of_c = (of_c.0 + 1, of_c.1.min(v), c);
    }
    sizes.retain(|size| size.0 > 0);
    sizes.sort_unstable_by_key(|&(size, first, _)| (std::cmp::Reverse(size), first));
    let mut rank = vec![0u32; count];
    sizes.iter().zip(0..).for_each(|(&(_, _, c), number)| rank[c as usize] = number);
    group.iter().map(|&c| rank[c as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_when_it_is_stopped() {
        let path: Vec<(u32, u32)> = (0..600_000).map(|v| (v, v + 1)).collect();
        let graph = Graph::from_edges(600_001, &path);
        assert_eq!(watched_components(&graph, &crate::Unmonitored), Ok(connected_components(&graph)));
        assert!(search(&graph, || Err(())).is_err());
    }

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

    #[test]
    fn groups_are_numbered_by_size_then_by_smallest_node() {
        assert_eq!(by_size(&[9, 4, 4, 7, 9, 2]), [0, 1, 1, 2, 0, 3]);
        assert!(by_size(&[]).is_empty());
    }
}
