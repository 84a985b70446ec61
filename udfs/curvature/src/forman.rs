//! Forman-Ricci curvature of edges (Curvature Filtrations, Eq. 1).

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::triangles::{Matrix, count_common};

/// Why there are no Forman curvatures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormanError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// A pair of the list is not an edge of the graph: its position, counted from 0, and its endpoints.
    #[error("row {row} of the edges is ({src}, {dst}), which is no edge of the graph")]
    NotAnEdge {
        /// The position in the list.
        row: usize,
        /// The first endpoint.
        src: u32,
        /// The second endpoint.
        dst: u32,
    },
}

/// The Forman-Ricci curvature 4 - d(i) - d(j) + 3 T(i, j) of every edge in `edges`, with T the number of triangles on
/// the edge: one value a row, in the order of the rows, `None` for a loop.
///
/// Rows may repeat an edge and name its endpoints in either order. Sorted adjacency lists are intersected, so a row costs
/// at most O(d(i) + d(j)), and O(log) of the larger degree for each neighbour of the smaller endpoint where degrees differ
/// much; on dense graphs rows of bits are, in O(n / 64). Rows are independent and run in parallel; 16 bytes a row.
///
/// # Errors
/// [`FormanError::NotAnEdge`] for a row that is neither a loop nor an edge of `graph`; [`FormanError::Stopped`] when
/// the host wants no answer or grants no memory for it.
pub fn forman_ricci(
    graph: &Graph,
    edges: &[(u32, u32)],
    monitor: &dyn Monitor,
) -> Result<Vec<Option<i64>>, FormanError> {
    const BLOCK: usize = 1024;
    let _reservation = Reservation::new(monitor, edges.len() * size_of::<Option<i64>>())?;
    let n = graph.n_nodes();
    // A dense graph's matrix is no larger than the graph.
    let _more_room = Reservation::new(monitor, 8 * graph.n_edges())?;
    let matrix = Matrix::of_dense(graph);
    let mut values = vec![None; edges.len()];
    monitor.expect(edges.len() as u64);
    values.par_chunks_mut(BLOCK).zip(edges.par_chunks(BLOCK)).enumerate().try_for_each(
        |(block, (values, edges))| {
            monitor.check()?;
            for (i, (value, &(src, dst))) in values.iter_mut().zip(edges).enumerate() {
                if src == dst {
                    continue;
                }
                let is_edge =
                    || matrix.as_ref().map_or_else(|| graph.has_edge(src, dst), |matrix| matrix.has(src, dst));
                if src as usize >= n || dst as usize >= n || !is_edge() {
                    return Err(FormanError::NotAnEdge { row: block * BLOCK + i, src, dst });
                }
                let (a, b) = (graph.neighbors(src), graph.neighbors(dst));
                let common = matrix.as_ref().map_or_else(|| count_common(a, b), |matrix| matrix.count_common(src, dst));
                *value = Some(4 - a.len() as i64 - b.len() as i64 + 3 * common as i64);
            }
            monitor.advance(edges.len() as u64);
            Ok(())
        },
    )?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(n: usize, edges: &[(u32, u32)]) -> Vec<Option<i64>> {
        forman_ricci(&Graph::from_edges(n, edges), edges, &Unmonitored).unwrap()
    }

    #[test]
    fn closed_forms_of_paths_cycles_stars_and_complete_graphs() {
        assert_eq!(of(2, &[(0, 1)]), [Some(2)]);
        assert_eq!(of(4, &[(0, 1), (1, 2), (2, 3)]), [Some(1), Some(0), Some(1)]);
        assert_eq!(of(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]), [Some(0); 5]);
        assert_eq!(of(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]), [Some(-1); 4]);
        for n in 3..9u32 {
            let edges: Vec<_> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
            // 4 - 2 (n - 1) + 3 (n - 2) = n
            assert_eq!(of(n as usize, &edges), vec![Some(n as i64); edges.len()]);
        }
    }

    #[test]
    fn strongly_regular_graphs_have_one_value() {
        // Rook's graph 4x4 is (16, 6, 2, 2): 4 - 12 + 6.
        let mut rook = Vec::new();
        for a in 0..16u32 {
            for b in a + 1..16 {
                if a / 4 == b / 4 || a % 4 == b % 4 {
                    rook.push((a, b));
                }
            }
        }
        assert_eq!(of(16, &rook), vec![Some(-2); 48]);
    }

    #[test]
    fn rows_keep_their_places_loops_are_null_and_strangers_are_refused() {
        let rows = [(1, 0), (1, 1), (0, 1), (1, 2), (2, 0)];
        assert_eq!(of(3, &rows), [Some(3), None, Some(3), Some(3), Some(3)]);
        let graph = Graph::from_edges(3, &[(0, 1)]);
        let error = forman_ricci(&graph, &[(0, 1), (1, 2)], &Unmonitored).unwrap_err();
        assert_eq!(error, FormanError::NotAnEdge { row: 1, src: 1, dst: 2 });
        assert!(forman_ricci(&graph, &[(0, 7)], &Unmonitored).is_err());
    }

    proptest! {
        #[test]
        fn values_agree_with_the_definition(edges in proptest::collection::vec((0u32..15, 0u32..15), 0..80)) {
            let graph = Graph::from_edges(15, &edges);
            for (&(i, j), value) in edges.iter().zip(of(15, &edges)) {
                let triangles = (0..15).filter(|&x| graph.has_edge(x, i) && graph.has_edge(x, j)).count() as i64;
                let expected = 4 - graph.degree(i) as i64 - graph.degree(j) as i64 + 3 * triangles;
                prop_assert_eq!(value, (i != j).then_some(expected));
            }
        }

        #[test]
        fn one_more_edge_changes_any_other_by_plus_two_at_most_and_minus_one(
            edges in proptest::collection::vec((0u32..10, 0u32..10), 1..40), extra in (0u32..10, 0u32..10),
        ) {
            // Curvature Filtrations, Theorem 2.
            let before = of(10, &edges);
            let graph = Graph::from_edges(10, &[edges.as_slice(), &[extra]].concat());
            let after = forman_ricci(&graph, &edges, &Unmonitored).unwrap();
            for (b, a) in before.into_iter().zip(after) {
                if let (Some(b), Some(a)) = (b, a) {
                    prop_assert!((-1..=2).contains(&(a - b)));
                }
            }
        }
    }
}
