//! Strong components of directed graphs, and the graph of these components.

use std::cmp::Reverse;

use bonnet_graph::petgraph::algo::kosaraju_scc;
use bonnet_graph::{Components, Digraph, Monitor, Reservation, Stopped, watched};

/// The strong components: sets of nodes that arcs lead from each to each. Numbered by falling size; among equal sizes,
/// by their smallest node. By petgraph's `kosaraju_scc` (its `tarjan_scc` recurses as deep as paths are long): O(n + m)
/// time.
///
/// # Errors
/// If the monitor stops it.
pub fn strong_components(graph: &Digraph, monitor: &dyn Monitor) -> Result<Components, Stopped> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 48 * n)?;
    let mut found = watched(graph.view(), monitor, |view| kosaraju_scc(view))?;
    found.sort_by_cached_key(|nodes| (Reverse(nodes.len()), nodes.iter().min().copied()));
    let mut of_node = vec![0; n];
    for (component, nodes) in found.iter().enumerate() {
        nodes.iter().for_each(|v| of_node[v.index()] = component as u32);
    }
    Ok(Components { of_node, sizes: found.iter().map(Vec::len).collect() })
}

/// The arcs between components, each as `(from, to, arcs of the graph between the two)`, in ascending order: a graph
/// without cycles, where the components are strong. O(n + m log m).
pub fn condensation(graph: &Digraph, components: &Components) -> Vec<(u32, u32, u64)> {
    let of = |v: u32| components.of_node[v as usize];
    let mut arcs: Vec<(u32, u32)> = graph.arcs().map(|(u, v)| (of(u), of(v))).filter(|(from, to)| from != to).collect();
    arcs.sort_unstable();
    arcs.chunk_by(|a, b| a == b).map(|same| (same[0].0, same[0].1, same.len() as u64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Network, testing};
    use bonnet_graph::Unmonitored;

    #[test]
    fn two_nodes_are_in_one_component_where_paths_lead_both_ways() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Digraph::from_arcs(n, &rows);
            let found = strong_components(&graph, &Unmonitored).unwrap();
            let reversed = graph.reversed();
            let distances = testing::distances(Network::directed(&graph, &reversed));
            for (u, from) in distances.iter().enumerate() {
                for (v, back) in distances.iter().enumerate() {
                    let both = from[v].is_some() && back[u].is_some();
                    assert_eq!(found.of_node[u] == found.of_node[v], both, "graph {seed}: {u}, {v}");
                }
            }
            assert!(found.sizes.is_sorted_by(|a, b| a >= b));
            assert_eq!(found.sizes.iter().sum::<usize>(), n);

            let between = condensation(&graph, &found);
            let arcs: Vec<(u32, u32)> = between.iter().map(|&(from, to, _)| (from, to)).collect();
            let order = crate::topological_sort(&Digraph::from_arcs(found.sizes.len(), &arcs), &Unmonitored);
            assert!(order.is_ok(), "graph {seed}: a cycle of components");
            let within = graph.arcs().filter(|&(u, v)| found.of_node[u as usize] == found.of_node[v as usize]).count();
            assert_eq!(between.iter().map(|arc| arc.2 as usize).sum::<usize>() + within, graph.n_arcs());
        }
    }

    #[test]
    fn a_long_path_does_not_exhaust_the_stack() {
        let arcs: Vec<(u32, u32)> = (0..300_000).map(|v| (v, v + 1)).collect();
        let found = strong_components(&Digraph::from_arcs(300_001, &arcs), &Unmonitored).unwrap();
        assert_eq!(found.sizes.len(), 300_001);
        assert_eq!(found.of_node[7], 7);
    }
}
