//! Balanced Forman curvature of edges (Topping et al., Understanding over-squashing and bottlenecks on graphs via curvature, 2022).

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

/// Edges that a thread takes at a time.
const BLOCK: usize = 64;

/// The balanced Forman curvature of every edge (Definition 1), in the order of [`Graph::edges`]: 0 where an end has degree 1, else
///
/// ```text
/// 2/d(i) + 2/d(j) - 2 + 2 T / max(d) + T / min(d) + (S(i) + S(j)) / (gamma max(d))
/// ```
///
/// with T the triangles on the edge, S(i) the neighbours of i alone that lie on a 4-cycle over the edge without a diagonal, and gamma the
/// most such cycles that one of the nodes of S(i) and S(j) lies on. Above -2, and no more than the Ollivier-Ricci curvature of the walk that
/// stays with what is left of both ends (Theorem 2 there).
///
/// O(sum over edges of the degrees of the neighbours of both ends), in parallel; 9 bytes a node for each thread.
///
/// # Errors
/// [`Stopped`].
pub fn balanced_forman(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let n = graph.n_nodes();
    let threads = rayon::current_num_threads();
    let _reservation = Reservation::new(monitor, 16 * graph.n_edges() + n * threads)?;
    let edges: Vec<(u32, u32)> = graph.edges().collect();
    let mut values = vec![0.0; edges.len()];
    monitor.expect(edges.len() as u64);
    values.par_chunks_mut(BLOCK).zip(edges.par_chunks(BLOCK)).try_for_each_init(
        || vec![0u8; n],
        |side, (values, edges)| {
            for (value, &(i, j)) in values.iter_mut().zip(edges) {
                monitor.check()?;
                *value = of_edge(graph, i, j, side);
            }
            monitor.advance(edges.len() as u64);
            Ok(())
        },
    )?;
    Ok(values)
}

/// Bits of a node: next to i, next to j.
const NEAR_I: u8 = 1;
const NEAR_J: u8 = 2;

fn of_edge(graph: &Graph, i: u32, j: u32, side: &mut [u8]) -> f64 {
    let (p, q) = (graph.degree(i), graph.degree(j));
    if p.min(q) == 1 {
        return 0.0;
    }
    let both = [(i, NEAR_I), (j, NEAR_J)];
    for (end, bit) in both {
        graph.neighbors(end).iter().for_each(|&v| side[v as usize] |= bit);
    }
    // The ends are next to each other, and on no cycle of theirs.
    side[i as usize] = 0;
    side[j as usize] = 0;
    let triangles = graph.neighbors(i).iter().filter(|&&v| side[v as usize] == NEAR_I | NEAR_J).count();
    let (mut corners, mut most) = (0, 0);
    for (end, own, other) in [(i, NEAR_I, NEAR_J), (j, NEAR_J, NEAR_I)] {
        for &k in graph.neighbors(end).iter().filter(|&&k| side[k as usize] == own) {
            let cycles = graph.neighbors(k).iter().filter(|&&w| side[w as usize] == other).count();
            corners += usize::from(cycles > 0);
            most = most.max(cycles);
        }
    }
    for (end, _) in both {
        graph.neighbors(end).iter().for_each(|&v| side[v as usize] = 0);
    }
    let (small, large) = (p.min(q) as f64, p.max(q) as f64);
    let triangles = triangles as f64;
    let cycles = if corners > 0 { corners as f64 / (most as f64 * large) } else { 0.0 };
    2.0 / small + 2.0 / large - 2.0 + 2.0 * triangles / large + triangles / small + cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OllivierOptions, ollivier_ricci};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(graph: &Graph) -> Vec<f64> {
        balanced_forman(graph, &Unmonitored).unwrap()
    }

    fn all(values: &[f64], expected: f64) {
        values.iter().for_each(|value| assert!((value - expected).abs() < 1e-15, "{value} {expected}"));
    }

    #[test]
    fn cycles_complete_graphs_grids_and_trees_have_the_values_of_table_1() {
        // Topping et al., Table 1: C_3 3/2, C_4 1, C_n 0, K_n n / (n - 1), the grid 0, the tree 4 / d - 2.
        let cycle = |n: u32| Graph::from_edges(n as usize, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>());
        all(&of(&cycle(3)), 1.5);
        all(&of(&cycle(4)), 1.0);
        (5..9).for_each(|n| all(&of(&cycle(n)), 0.0));
        for n in 3..9u32 {
            let edges: Vec<_> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
            all(&of(&Graph::from_edges(n as usize, &edges)), f64::from(n) / f64::from(n - 1));
        }
        // A torus of squares, of degree 4: each edge has a square on either side.
        let torus: Vec<_> = (0..49u32).flat_map(|v| [(v, v / 7 * 7 + (v + 1) % 7), (v, (v + 7) % 49)]).collect();
        all(&of(&Graph::from_edges(49, &torus)), 0.0);
        let tree = Graph::from_edges(8, &[(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (2, 7)]);
        let values = of(&tree);
        all(&values[..2], 4.0 / 3.0 - 2.0);
        all(&values[2..], 0.0);
    }

    /// The definition with matrices.
    fn literal(graph: &Graph, i: u32, j: u32) -> f64 {
        let n = graph.n_nodes() as u32;
        let a = |u: u32, v: u32| f64::from(u8::from(graph.has_edge(u, v)));
        let (p, q) = (graph.degree(i) as f64, graph.degree(j) as f64);
        if p.min(q) == 1.0 {
            return 0.0;
        }
        let triangles: f64 = (0..n).map(|k| a(i, k) * a(j, k)).sum();
        let mut gamma = 0.0f64;
        let mut corners = 0.0;
        for (x, y) in [(i, j), (j, i)] {
            for k in (0..n).filter(|&k| k != y && graph.has_edge(x, k) && !graph.has_edge(y, k)) {
                let on =
                    (0..n).any(|w| w != x && graph.has_edge(k, w) && graph.has_edge(y, w) && !graph.has_edge(x, w));
                if on {
                    corners += 1.0;
                    // A_k . (A_y - A_x * A_y) - 1
                    gamma = gamma.max((0..n).map(|w| a(k, w) * (a(y, w) - a(x, w) * a(y, w))).sum::<f64>() - 1.0);
                }
            }
        }
        let cycles = if corners > 0.0 { corners / gamma / p.max(q) } else { 0.0 };
        2.0 / p + 2.0 / q - 2.0 + 2.0 * triangles / p.max(q) + triangles / p.min(q) + cycles
    }

    proptest! {
        #[test]
        fn values_agree_with_the_definition(edges in proptest::collection::vec((0u32..12, 0u32..12), 0..60)) {
            let graph = Graph::from_edges(12, &edges);
            for ((i, j), value) in graph.edges().zip(of(&graph)) {
                prop_assert!((value - literal(&graph, i, j)).abs() < 1e-14);
            }
        }

        #[test]
        fn the_value_is_no_more_than_that_of_lin_lu_and_yau_where_ends_have_neighbours(
            edges in proptest::collection::vec((0u32..12, 0u32..12), 0..60),
        ) {
            // Theorem 2 of the paper bounds Ollivier's curvature by the walk that stays with 1 / (max degree + 1), rescaled:
            // that is the limit of idleness.
            let graph = Graph::from_edges(12, &edges);
            let half = OllivierOptions { alpha: 0.5, ..OllivierOptions::default() };
            let limit = ollivier_ricci(&graph, &half, &Unmonitored).unwrap();
            for (((i, j), value), limit) in graph.edges().zip(of(&graph)).zip(limit) {
                if graph.degree(i).min(graph.degree(j)) > 1 {
                    prop_assert!(value <= 2.0 * limit + 1e-12, "({}, {}): {} {}", i, j, value, 2.0 * limit);
                }
            }
        }
    }
}
