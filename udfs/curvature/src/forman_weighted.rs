//! Forman-Ricci curvature of edges with weights (Sreejith et al., Forman curvature for complex networks, 2016; Samal et al.,
//! Comparative analysis of two discretizations of Ricci curvature for complex networks, 2018).

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::EdgeIds;
use crate::arc_lengths::of_arcs;

/// The cells that Forman's curvature counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormanCells {
    /// Nodes, edges and triangles: the augmented form.
    #[default]
    Triangles,
    /// Nodes and edges alone: Sreejith's form.
    Edges,
}

/// Why there are no weighted Forman curvatures.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WeightedFormanError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// There is not one weight for each edge: how many edges and how many values there are.
    #[error("{0} edges and {1} weights: one is needed for each edge")]
    Length(usize, usize),
    /// The weight of an edge is not a positive finite number: its endpoints and the value.
    #[error("the edge ({src}, {dst}) has the weight {weight}: expected a positive finite number")]
    Weight {
        /// The smaller endpoint.
        src: u32,
        /// The larger endpoint.
        dst: u32,
        /// The value.
        weight: f64,
    },
}

/// The Forman-Ricci curvature of every edge e = (i, j) of weight w, in the order of [`Graph::edges`]; nodes and triangles weigh 1:
///
/// ```text
/// 2 - sum over other edges f at i or j of sqrt(w(e) / w(f))                                      Edges
/// 2 + w(e)^2 T(e) - sum over those f that share no triangle with e of sqrt(w(e) / w(f))          Triangles
/// ```
///
/// with T the number of triangles on the edge. Without weights all are 1, and the form with triangles is that of
/// [`crate::forman_ricci`]. O(sum over edges of both degrees), in parallel.
///
/// # Errors
/// [`WeightedFormanError`].
pub fn weighted_forman_ricci(
    graph: &Graph,
    weights: Option<&[f64]>,
    cells: FormanCells,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, WeightedFormanError> {
    const BLOCK: usize = 1024;
    let n = graph.n_nodes();
    let ones;
    let weights = match weights {
        Some(weights) => weights,
        None => {
            ones = vec![1.0; graph.n_edges()];
            &ones
        }
    };
    if weights.len() != graph.n_edges() {
        return Err(WeightedFormanError::Length(graph.n_edges(), weights.len()));
    }
    let bad = |(_, weight): &((u32, u32), &f64)| !(**weight > 0.0 && weight.is_finite());
    if let Some(((src, dst), &weight)) = graph.edges().zip(weights).find(bad) {
        return Err(WeightedFormanError::Weight { src, dst, weight });
    }
    let _reservation = Reservation::new(monitor, 32 * graph.n_edges() + 8 * n)?;
    let ids = EdgeIds::new(graph);
    // 1 / sqrt w of the edges at each node, in the order of its neighbours.
    let roots = of_arcs(graph, weights.iter().map(|weight| 1.0 / weight.sqrt()));
    // The sum over the edges at `at` of 1 / sqrt w, without the edge to `other` and those to common neighbours.
    let side = |at: u32, other: u32| -> (f64, usize) {
        let range = graph.offsets()[at as usize]..graph.offsets()[at as usize + 1];
        let theirs = graph.neighbors(other);
        let (mut sum, mut common, mut place) = (0.0, 0, 0);
        for (&v, root) in graph.targets()[range.clone()].iter().zip(&roots[range]) {
            while place < theirs.len() && theirs[place] < v {
                place += 1;
            }
            let is_common = theirs.get(place) == Some(&v);
            common += usize::from(is_common);
            if v != other && !(is_common && cells == FormanCells::Triangles) {
                sum += root;
            }
        }
        (sum, common)
    };
    let edges: Vec<(u32, u32)> = graph.edges().collect();
    let mut values = vec![0.0; edges.len()];
    monitor.expect(edges.len() as u64);
    values.par_chunks_mut(BLOCK).zip(edges.par_chunks(BLOCK)).try_for_each(|(values, edges)| {
        monitor.check()?;
        for (value, &(u, v)) in values.iter_mut().zip(edges) {
            let Some(weight) = ids.of(u, v).map(|id| weights[id]) else { continue };
            let ((at_u, triangles), (at_v, _)) = (side(u, v), side(v, u));
            let faces = match cells {
                FormanCells::Edges => 0.0,
                FormanCells::Triangles => weight * weight * triangles as f64,
            };
            *value = 2.0 + faces - weight.sqrt() * (at_u + at_v);
        }
        monitor.advance(edges.len() as u64);
        Ok::<(), Stopped>(())
    })?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    const EDGES: [f64; 10] = [
        -1.001983836606,
        -3.205390527293,
        -8.235151147232,
        0.083877942256,
        -5.730733888835,
        -5.515185732669,
        -1.408379596654,
        -3.860643900605,
        -1.918195123532,
        0.94942299789,
    ];
    const TRIANGLES: [f64; 10] = [
        2.044685257801,
        6.861816280291,
        -8.235151147232,
        1.488198318943,
        -5.730733888835,
        -5.515185732669,
        2.357985781257,
        0.899014776778,
        0.126008326896,
        0.94942299789,
    ];

    fn of(graph: &Graph, weights: Option<&[f64]>, cells: FormanCells) -> Vec<f64> {
        weighted_forman_ricci(graph, weights, cells, &Unmonitored).unwrap()
    }

    #[test]
    fn values_are_those_of_graph_ricci_curvature() {
        // GraphRicciCurvature 0.6.1, FormanRicci with method '1d' and 'augmented'; edges in the order of the graph.
        let edges = [(0, 1), (0, 2), (0, 6), (1, 2), (1, 4), (2, 3), (3, 4), (3, 5), (4, 5), (5, 6)];
        let weights = [1.0, 2.5, 7.0, 0.5, 3.0, 4.0, 1.25, 1.5, 0.75, 0.2];
        let graph = Graph::from_edges(7, &edges);
        assert_eq!(graph.edges().collect::<Vec<_>>(), edges);
        for (cells, expected) in [(FormanCells::Edges, EDGES), (FormanCells::Triangles, TRIANGLES)] {
            for (value, expected) in of(&graph, Some(&weights), cells).into_iter().zip(expected) {
                assert!((value - expected).abs() < 1e-11, "{value} {expected}");
            }
        }
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]);
        for weight in [0.0, -2.0, f64::NAN, f64::INFINITY] {
            let error =
                weighted_forman_ricci(&graph, Some(&[1.0, weight]), FormanCells::Edges, &Unmonitored).unwrap_err();
            assert!(error.to_string().starts_with("the edge (1, 2) has the weight"), "{error}");
        }
        let error = weighted_forman_ricci(&graph, Some(&[1.0]), FormanCells::Edges, &Unmonitored).unwrap_err();
        assert_eq!(error, WeightedFormanError::Length(2, 1));
        assert!(of(&Graph::from_edges(2, &[]), None, FormanCells::Edges).is_empty());
    }

    proptest! {
        #[test]
        fn values_agree_with_the_sum_over_cells(edges in proptest::collection::vec((0u32..12, 0u32..12), 0..50), seed in 1u32..99) {
            let graph = Graph::from_edges(12, &edges);
            let edges: Vec<_> = graph.edges().collect();
            let weights: Vec<f64> = edges.iter().map(|(u, v)| f64::from((u * seed + v * 7) % 11 + 1) / 3.0).collect();
            let weight = |u: u32, v: u32| weights[edges.iter().position(|e| *e == (u.min(v), u.max(v))).unwrap()];
            for cells in [FormanCells::Edges, FormanCells::Triangles] {
                for (&(i, j), value) in edges.iter().zip(of(&graph, Some(&weights), cells)) {
                    let w = weight(i, j);
                    let mut expected = w * (1.0 / w + 1.0 / w);
                    for (end, other) in [(i, j), (j, i)] {
                        for &k in graph.neighbors(end).iter().filter(|&&k| k != other) {
                            let face = graph.has_edge(k, other) && cells == FormanCells::Triangles;
                            // A face counts once: at one of the two ends.
                            expected += if face && end == i { w * w } else if face { 0.0 } else { -w / (w * weight(end, k)).sqrt() };
                        }
                    }
                    prop_assert!((value - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{value} {expected}");
                }
            }
            let plain = crate::forman_ricci(&graph, &edges, &Unmonitored).unwrap();
            for (value, plain) in of(&graph, None, FormanCells::Triangles).into_iter().zip(plain) {
                prop_assert_eq!(value, plain.unwrap() as f64);
            }
        }
    }
}
