//! Biconnected components, articulation points and bridges of undirected graphs.

use std::cmp::Reverse;

use bonnet_graph::petgraph::algo::articulation_points::articulation_points as find_articulation_points;
use bonnet_graph::petgraph::algo::bridges as find_bridges;
use bonnet_graph::petgraph::visit::EdgeRef;
use bonnet_graph::{Graph, Monitor, Reservation, Stopped, watched};

/// Nodes between two questions to the monitor.
const CHECK_EVERY: usize = 4096;

/// The biconnected component of each arc, in the order of [`Graph::targets`] (both arcs of an edge have the same): the
/// largest sets of edges any two of which lie on a common cycle, and single edges on none. Numbered by falling number
/// of edges; among equal numbers, by their first edge.
///
/// Ours (petgraph has none): Hopcroft and Tarjan, Algorithm 447 (1973), with a stack of its own. O(n + m log degree)
/// time, O(n + m) memory.
///
/// # Errors
/// If the monitor stops it.
pub fn biconnected_components(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let (n, targets, offsets) = (graph.n_nodes(), graph.targets(), graph.offsets());
    let _reservation = Reservation::new(monitor, 40 * n + 28 * targets.len())?;
    // The time of discovery, 0 for none yet, and the earliest one reached from below a node by one arc upwards.
    let (mut discovered, mut low) = (vec![0u32; n], vec![0u32; n]);
    let mut time = 0;
    let mut next = offsets[..n].to_vec();
    let mut path: Vec<u32> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    // Every component's arcs as they were walked.
    let mut walked: Vec<usize> = Vec::with_capacity(targets.len() / 2);
    let mut ends: Vec<usize> = Vec::new();
    for root in 0..n as u32 {
        if discovered[root as usize] != 0 {
            continue;
        }
        path.push(root);
        time += 1;
        (discovered[root as usize], low[root as usize]) = (time, time);
        while let Some(&v) = path.last() {
            let i = v as usize;
            let parent = path.len().checked_sub(2).map(|above| path[above]);
            if next[i] == offsets[i + 1] {
                path.pop();
                let Some(parent) = parent else { continue };
                let p = parent as usize;
                low[p] = low[p].min(low[i]);
                if low[i] >= discovered[p] {
                    // No arc leads from below v above its parent: what was walked since then is a component.
                    let first = offsets[p] + graph.neighbors(parent).partition_point(|&w| w < v);
                    let since = open.iter().rposition(|&arc| arc == first).unwrap_or(0);
                    walked.extend(open.drain(since..));
                    ends.push(walked.len());
                }
                continue;
            }
            let arc = next[i];
            next[i] += 1;
            let w = targets[arc] as usize;
            if Some(w as u32) == parent {
                continue;
            }
            if discovered[w] == 0 {
                open.push(arc);
                path.push(w as u32);
                time += 1;
                (discovered[w], low[w]) = (time, time);
                if (time as usize).is_multiple_of(CHECK_EVERY) {
                    monitor.check()?;
                }
            } else if discovered[w] < discovered[i] {
                open.push(arc);
                low[i] = low[i].min(discovered[w]);
            }
        }
    }

    // Both arcs of every edge; then the components in their order.
    let mut of_arc = vec![u32::MAX; targets.len()];
    let mut start = 0;
    for (component, &end) in ends.iter().enumerate() {
        walked[start..end].iter().for_each(|&arc| of_arc[arc] = component as u32);
        start = end;
    }
    let mut first = vec![usize::MAX; ends.len()];
    for u in 0..n as u32 {
        for arc in offsets[u as usize]..offsets[u as usize + 1] {
            let v = targets[arc];
            if u < v {
                let back = offsets[v as usize] + graph.neighbors(v).partition_point(|&w| w < u);
                let component = of_arc[arc].min(of_arc[back]);
                (of_arc[arc], of_arc[back]) = (component, component);
                first[component as usize] = first[component as usize].min(arc);
            }
        }
    }
    let size = |component: usize| ends[component] - component.checked_sub(1).map_or(0, |before| ends[before]);
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_unstable_by_key(|&component| (Reverse(size(component)), first[component]));
    let mut rank = vec![0; ends.len()];
    order.iter().enumerate().for_each(|(at, &component)| rank[component] = at as u32);
    of_arc.iter_mut().for_each(|component| *component = rank[*component as usize]);
    Ok(of_arc)
}

/// Which nodes are articulation points: without one of them, its component falls apart. By petgraph's
/// `articulation_points`: O(n + m).
///
/// # Errors
/// If the monitor stops it.
pub fn articulation_points(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<bool>, Stopped> {
    let _reservation = Reservation::new(monitor, 80 * graph.n_nodes() + 32 * graph.n_edges())?;
    let points = watched(graph.view(), monitor, |view| find_articulation_points(view))?;
    let mut is_point = vec![false; graph.n_nodes()];
    points.into_iter().for_each(|v| is_point[v.index()] = true);
    Ok(is_point)
}

/// Which edges are bridges: without one of them, its component falls apart. For each arc, in the order of
/// [`Graph::targets`]. By petgraph's `bridges`: O(n + m).
///
/// # Errors
/// If the monitor stops it.
pub fn bridges(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<bool>, Stopped> {
    let _reservation = Reservation::new(monitor, 72 * graph.n_nodes() + graph.targets().len())?;
    let edges: Vec<(usize, usize)> = watched(graph.view(), monitor, |view| {
        find_bridges(view).map(|edge| (edge.source().index(), edge.target().index())).collect()
    })?;
    Ok(mark_edges(graph, edges.into_iter().map(|(u, v)| (u as u32, v as u32))))
}

/// True at both arcs of some edges.
pub(crate) fn mark_edges(graph: &Graph, edges: impl Iterator<Item = (u32, u32)>) -> Vec<bool> {
    let mut marked = vec![false; graph.targets().len()];
    for (u, v) in edges {
        for (from, to) in [(u, v), (v, u)] {
            marked[graph.offsets()[from as usize] + graph.neighbors(from).partition_point(|&w| w < to)] = true;
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::{Unmonitored, connected_components};

    fn without(graph: &Graph, keep: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let edges: Vec<_> = graph.edges().filter(|&(u, v)| keep(u, v)).collect();
        connected_components(&Graph::from_edges(graph.n_nodes(), &edges)).of_node
    }

    /// Whether two edges lie on a common cycle: no node but a common endpoint parts them.
    fn together(graph: &Graph, (a, b): (u32, u32), (c, d): (u32, u32)) -> bool {
        let n = graph.n_nodes() as u32;
        // Each edge gets a node in its middle; two disjoint paths between the middles exist where no other node parts
        // them.
        let middle: Vec<_> = graph
            .edges()
            .flat_map(|(u, v)| match (u, v) {
                edge if edge == (a, b) => vec![(a, n), (n, b)],
                edge if edge == (c, d) => vec![(c, n + 1), (n + 1, d)],
                edge => vec![edge],
            })
            .collect();
        (0..n).all(|cut| {
            let kept: Vec<_> = middle.iter().copied().filter(|&(u, v)| u != cut && v != cut).collect();
            let parts = connected_components(&Graph::from_edges(n as usize + 2, &kept)).of_node;
            parts[n as usize] == parts[n as usize + 1]
        })
    }

    #[test]
    fn components_points_and_bridges_are_what_deletion_says() {
        for seed in 0..120 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let whole = connected_components(&graph);
            let points = articulation_points(&graph, &Unmonitored).unwrap();
            for v in 0..n as u32 {
                let parts = without(&graph, |a, b| a != v && b != v);
                let mine = |w: &usize| whole.of_node[*w] == whole.of_node[v as usize] && *w != v as usize;
                let mut around: Vec<u32> = (0..n).filter(mine).map(|w| parts[w]).collect();
                around.sort_unstable();
                around.dedup();
                assert_eq!(points[v as usize], around.len() > 1, "graph {seed}, node {v}");
            }
            let found = bridges(&graph, &Unmonitored).unwrap();
            let components = biconnected_components(&graph, &Unmonitored).unwrap();
            let mut at = 0;
            let mut of_edge = Vec::new();
            for u in 0..n as u32 {
                for &v in graph.neighbors(u) {
                    let parts = without(&graph, |a, b| (a, b) != (u.min(v), u.max(v)));
                    assert_eq!(found[at], parts[u as usize] != parts[v as usize], "graph {seed}, edge {u}, {v}");
                    if u < v {
                        of_edge.push(((u, v), components[at]));
                    }
                    at += 1;
                }
            }
            if graph.n_edges() < 40 {
                for (i, &(a, of_a)) in of_edge.iter().enumerate() {
                    for &(b, of_b) in &of_edge[..i] {
                        assert_eq!(of_a == of_b, together(&graph, a, b), "graph {seed}: {a:?}, {b:?}");
                    }
                }
            }
            let count = of_edge.iter().map(|edge| edge.1 as usize + 1).max().unwrap_or(0);
            let sizes: Vec<usize> =
                (0..count).map(|c| of_edge.iter().filter(|edge| edge.1 as usize == c).count()).collect();
            assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        }
    }

    #[test]
    fn a_long_path_is_all_bridges() {
        let edges: Vec<(u32, u32)> = (0..200_000).map(|v| (v, v + 1)).collect();
        let graph = Graph::from_edges(200_001, &edges);
        assert!(bridges(&graph, &Unmonitored).unwrap().iter().all(|&bridge| bridge));
        assert_eq!(articulation_points(&graph, &Unmonitored).unwrap().iter().filter(|&&p| p).count(), 199_999);
        let components = biconnected_components(&graph, &Unmonitored).unwrap();
        assert_eq!((components[0], components[399_999]), (0, 199_999));
    }
}
