//! Graphs of the same shape, and shapes within graphs.

use bonnet_graph::petgraph::EdgeType;
use bonnet_graph::petgraph::algo::{is_isomorphic as find_isomorphism, subgraph_isomorphisms_iter};
use bonnet_graph::{Monitor, Reservation, View, watched_within};

use crate::AlgorithmError;

/// Whether two graphs, both directed or both not, are the same but for the names of their nodes. By petgraph's
/// `is_isomorphic` (Cordella, Foggia, Sansone and Vento, VF2, 2004) after comparing the degrees: exponential at worst,
/// as on large regular graphs; `steps` bounds it, counted in accesses to the lists of neighbours.
///
/// # Errors
/// [`AlgorithmError::Input`] where `steps` do not do; if the monitor stops it.
pub fn is_isomorphic<Ty: EdgeType>(
    a: View<'_, Ty>,
    b: View<'_, Ty>,
    steps: u64,
    monitor: &dyn Monitor,
) -> Result<bool, AlgorithmError> {
    let _reservation = Reservation::new(monitor, 40 * (nodes(a) + nodes(b)))?;
    if degrees(a) != degrees(b) {
        return Ok(false);
    }
    match watched_within(a, steps, monitor, |a| find_isomorphism(a, b))? {
        Some(same) => Ok(same),
        None => AlgorithmError::input(format!(
            "no answer after {steps} steps: give more (steps => ...), or compare what tells the graphs apart sooner, \
             such as orbit_counts or laplacian_spectrum"
        )),
    }
}

/// The occurrences of a pattern in a graph, both directed or both not: for each, the node of the graph that every node of
/// the pattern stands for, an arc of the pattern where there is one between them and none where there is none. In the
/// order of petgraph's `subgraph_isomorphisms_iter` (VF2), then sorted.
///
/// # Errors
/// [`AlgorithmError::Input`] where there are more than `limit` occurrences or `steps` do not do, with the number found so
/// far; if the monitor stops it.
pub fn subgraph_isomorphisms<Ty: EdgeType>(
    pattern: View<'_, Ty>,
    graph: View<'_, Ty>,
    limit: usize,
    steps: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<u32>>, AlgorithmError> {
    let size = nodes(pattern);
    let mut reservation = Reservation::new(monitor, 40 * (size + nodes(graph)))?;
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut refused = Ok(());
    let mut beyond = false;
    let outcome = watched_within(graph, steps, monitor, |graph| {
        let (mut any_node, mut any_edge) = (|_: &(), _: &()| true, |_: &(), _: &()| true);
        let (pattern, graph) = (&pattern, &graph);
        let Some(places) = subgraph_isomorphisms_iter(pattern, graph, &mut any_node, &mut any_edge) else { return };
        for place in places {
            if found.len() == limit {
                beyond = true;
                return;
            }
            if found.len().is_multiple_of(1024) {
                refused = reservation.grow(1024 * (4 * size + size_of::<Vec<u32>>()));
                if refused.is_err() {
                    return;
                }
            }
            found.push(place.into_iter().map(|v| v as u32).collect());
        }
    });
    refused?;
    if beyond {
        return AlgorithmError::input(format!(
            "more than {limit} places of the pattern: allow more (max_results => ...) or a larger pattern"
        ));
    }
    if outcome?.is_none() {
        return AlgorithmError::input(format!(
            "not done after {steps} steps, with {} places found so far: give more (steps => ...), or a smaller graph",
            found.len()
        ));
    }
    found.sort_unstable();
    Ok(found)
}

fn nodes<Ty: EdgeType>(graph: View<'_, Ty>) -> usize {
    bonnet_graph::petgraph::visit::NodeCount::node_count(&graph)
}

/// The degrees of all nodes, out and in, in ascending order.
fn degrees<Ty: EdgeType>(graph: View<'_, Ty>) -> Vec<(usize, usize)> {
    use bonnet_graph::petgraph::Direction::{Incoming, Outgoing};
    use bonnet_graph::petgraph::visit::{IntoNeighborsDirected, IntoNodeIdentifiers};

    let degree = |v, direction| graph.neighbors_directed(v, direction).size_hint().0;
    let mut degrees: Vec<_> = graph.node_identifiers().map(|v| (degree(v, Outgoing), degree(v, Incoming))).collect();
    degrees.sort_unstable();
    degrees
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::{Digraph, Graph, Unmonitored};

    /// All ways to send the nodes of one graph to different nodes of another that keep arcs and their absence.
    fn places(pattern: &Digraph, graph: &Digraph) -> Vec<Vec<u32>> {
        let has = |graph: &Digraph, u: usize, v: usize| graph.successors(u as u32).contains(&(v as u32));
        let mut found = vec![Vec::new()];
        for node in 0..pattern.n_nodes() {
            let fits = |place: &Vec<u32>, v: u32| {
                !place.contains(&v)
                    && (0..node).all(|other| {
                        let w = place[other] as usize;
                        has(pattern, node, other) == has(graph, v as usize, w)
                            && has(pattern, other, node) == has(graph, w, v as usize)
                    })
            };
            found = found
                .iter()
                .flat_map(|place| {
                    (0..graph.n_nodes() as u32).filter(|&v| fits(place, v)).map(|v| {
                        let mut longer = place.clone();
                        longer.push(v);
                        longer
                    })
                })
                .collect();
        }
        found.sort_unstable();
        found
    }

    fn cut(rows: &[(u32, u32)], n: usize) -> Vec<(u32, u32)> {
        rows.iter().copied().filter(|&(u, v)| (u as usize) < n && (v as usize) < n).collect()
    }

    #[test]
    fn places_are_all_that_keep_arcs_and_their_absence() {
        let mut total = 0;
        for seed in 0..300 {
            let (n, rows) = testing::rows(seed);
            let (_, pattern_rows) = testing::rows(seed + 1000);
            let (n, size) = (n.clamp(1, 7), 1 + seed as usize % 4);
            let graph = Digraph::from_arcs(n, &cut(&rows, n));
            let pattern = Digraph::from_arcs(size, &cut(&pattern_rows, size));
            let found = subgraph_isomorphisms(pattern.view(), graph.view(), usize::MAX, 1 << 40, &Unmonitored).unwrap();
            assert_eq!(found, places(&pattern, &graph), "graph {seed}");
            total += found.len();

            let (edges, pattern_edges) =
                (Graph::from_edges(n, &cut(&rows, n)), Graph::from_edges(size, &cut(&pattern_rows, size)));
            let both = |graph: &Graph| {
                let arcs: Vec<_> = graph.edges().flat_map(|(u, v)| [(u, v), (v, u)]).collect();
                Digraph::from_arcs(graph.n_nodes(), &arcs)
            };
            let found =
                subgraph_isomorphisms(pattern_edges.view(), edges.view(), usize::MAX, 1 << 40, &Unmonitored).unwrap();
            assert_eq!(found, places(&both(&pattern_edges), &both(&edges)), "graph {seed}");
        }
        assert!(total > 1000);
    }

    #[test]
    fn renamed_graphs_are_the_same_and_changed_ones_are_not() {
        let mut different = 0;
        for seed in 0..300 {
            let (n, rows) = testing::rows(seed);
            let n = n.min(6);
            let rows = cut(&rows, n);
            let graph = Digraph::from_arcs(n, &rows);
            let renamed: Vec<_> = rows.iter().map(|&(u, v)| ((u + 1) % n as u32, (v + 1) % n as u32)).collect();
            let renamed = Digraph::from_arcs(n, &renamed);
            assert!(is_isomorphic(graph.view(), renamed.view(), 1 << 40, &Unmonitored).unwrap(), "graph {seed}");
            // One arc turned round.
            let mut turned = rows.clone();
            if let Some((u, v)) = turned.first_mut() {
                std::mem::swap(u, v);
            }
            let turned = Digraph::from_arcs(n, &turned);
            let expected = graph.n_arcs() == turned.n_arcs() && !places(&graph, &turned).is_empty();
            let found = is_isomorphic(graph.view(), turned.view(), 1 << 40, &Unmonitored).unwrap();
            assert_eq!(found, expected, "graph {seed}");
            different += usize::from(!found);
        }
        assert!(different > 50);
    }

    #[test]
    fn budgets_end_in_errors_with_the_count_so_far() {
        let all: Vec<(u32, u32)> = (0..20u32).flat_map(|u| (0..u).map(move |v| (v, u))).collect();
        let complete = Graph::from_edges(20, &all);
        let triangle = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)]);
        let count = |limit, steps| {
            subgraph_isomorphisms(triangle.view(), complete.view(), limit, steps, &Unmonitored).map(|found| found.len())
        };
        assert_eq!(count(6840, 1 << 40).unwrap(), 20 * 19 * 18);
        assert!(count(6839, 1 << 40).unwrap_err().to_string().contains("more than 6839 places"));
        assert!(count(10_000, 5000).unwrap_err().to_string().contains("places found so far"));
        // Two strongly regular graphs of the same parameters: the rook's and Shrikhande's.
        let square = |u: u32, v: u32| ((v / 4 + 4 - u / 4) % 4, (v % 4 + 4 - u % 4) % 4);
        let pairs = || (0..16u32).flat_map(|u| (0..16).map(move |v| (u, v)));
        let rook: Vec<_> = pairs().filter(|&(u, v)| u != v && (u / 4 == v / 4 || u % 4 == v % 4)).collect();
        let steps_of_shrikhande = [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)];
        let shrikhande: Vec<_> = pairs().filter(|&(u, v)| steps_of_shrikhande.contains(&square(u, v))).collect();
        let (a, b) = (Graph::from_edges(16, &rook), Graph::from_edges(16, &shrikhande));
        assert_eq!((a.n_edges(), b.n_edges()), (48, 48));
        assert!(!is_isomorphic(a.view(), b.view(), 1 << 40, &Unmonitored).unwrap());
        assert!(is_isomorphic(a.view(), b.view(), 0, &Unmonitored).is_err());
    }

    #[test]
    fn every_step_counts() {
        // The rook's graph of six by six fields beside itself with the nodes in another order.
        let rook = |place: fn(u32) -> u32| {
            let attacks = |u: u32, v: u32| (u / 6 == v / 6) != (u % 6 == v % 6);
            let edges: Vec<_> =
                (0..36u32).flat_map(|u| (0..u).map(move |v| (u, v))).filter(|&(u, v)| attacks(u, v)).collect();
            let renamed: Vec<_> = edges.iter().map(|&(u, v)| (place(u), place(v))).collect();
            Graph::from_edges(36, &renamed)
        };
        let (a, b) = (rook(|v| v), rook(|v| (v * 7 + 5) % 36));
        let within = |steps| is_isomorphic(a.view(), b.view(), steps, &Unmonitored).is_ok_and(|same| same);
        assert_eq!(
            is_isomorphic(a.view(), b.view(), 10, &Unmonitored)
                .unwrap_err()
                .to_string()
                .find("no answer after 10 steps"),
            Some(0)
        );
        // One number of steps does, each below it does not: at least one look at the neighbours of every node.
        let needed = (0..1 << 20).find(|&steps| within(steps)).unwrap();
        assert!((36..10_000).contains(&needed), "{needed}");
        assert!(within(needed + 1) && within(1 << 40));
    }
}
