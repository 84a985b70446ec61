//! Midpoint curvature where edges have lengths: distances are those of shortest paths.
//!
//! Nothing collapses to hops closer and farther; but d(b, c) does not depend on the anchor, and the mean over pairs of
//! (d(a,b)^2 + d(a,c)^2) / 2 is the mean of d(a,b)^2 over neighbours. With D = d(a,m), k neighbours, P pairs and S the sum of
//! d(b,c)^2 over pairs, the mean residual of an anchor is
//!
//! ```text
//! (sum over neighbours b of (D - d(a,b)) (D + d(a,b)) / k  +  S / (4 P)) / (2 D)
//! ```
//!
//! so one search from every node gives all: as an anchor, and as b of the pairs.

use bonnet_graph::{Graph, Monitor, Reservation};
use rayon::prelude::*;

use super::MidpointError;
use crate::arc_lengths::of_arcs;
use crate::search::{Roads, distances};

/// Anchors whose distances are held at once.
const TOGETHER: usize = 64;
/// Nodes that a thread takes at a time.
const NODES: usize = 256;

/// The sums of one node.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Over anchors: of the neighbours' part of the residual, and of 1 / (2 D).
    residual: f64,
    half_inverse: f64,
    anchors: u32,
    /// Over ordered pairs of neighbours: of their squared distances.
    squares: f64,
}

/// The midpoint curvature of every node of an undirected graph whose edges have `lengths`, positive and finite, in the order of
/// [`Graph::edges`]; over all anchors with a path to the node, 0 for fewer than two neighbours. With `relative`, divided by the largest finite
/// distance. With lengths of 1 it is [`super::midpoint_curvature`].
///
/// O(n m log n) time, in parallel, and the same answer for every number of threads. 512 bytes a node for the distances of 64
/// anchors, and 16 bytes a node for each thread.
///
/// # Errors
/// [`MidpointError::Lengths`], [`MidpointError::Length`], [`MidpointError::Stopped`].
pub fn weighted_midpoint_curvature(
    graph: &Graph,
    lengths: &[f64],
    relative: bool,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, MidpointError> {
    if lengths.len() != graph.n_edges() {
        return Err(MidpointError::Lengths(graph.n_edges(), lengths.len()));
    }
    let bad = |(_, length): &((u32, u32), &f64)| !(**length > 0.0 && length.is_finite());
    if let Some(((src, dst), &length)) = graph.edges().zip(lengths).find(bad) {
        return Err(MidpointError::Length { src, dst, length });
    }
    let n = graph.n_nodes();
    let threads = rayon::current_num_threads();
    let bytes = n * (8 * TOGETHER + size_of::<Sums>() + 8 + 32 * threads);
    let _reservation = Reservation::new(monitor, bytes + 8 * graph.targets().len())?;
    let lengths = of_arcs(graph, lengths.iter().copied());
    let roads = Roads { graph, lengths: &lengths };
    let mut sums = vec![Sums::default(); n];
    let mut held = vec![f64::INFINITY; n * TOGETHER.min(n)];
    let mut farthest: f64 = 0.0;
    monitor.expect(n as u64);
    for first in (0..n).step_by(TOGETHER) {
        let anchors = first..(first + TOGETHER).min(n);
        let rows = &mut held[..n * anchors.len()];
        let found: Result<Vec<f64>, MidpointError> = rows
            .par_chunks_mut(n)
            .zip(anchors.clone())
            .map(|(row, anchor)| Ok(distances(roads, anchor as u32, row, monitor)?))
            .collect();
        farthest = found?.into_iter().fold(farthest, f64::max);
        let rows = &*rows;
        sums.par_chunks_mut(NODES).enumerate().try_for_each(|(chunk, sums)| {
            monitor.check()?;
            for (m, sums) in (chunk * NODES..).zip(sums) {
                let neighbors = graph.neighbors(m as u32);
                if neighbors.len() < 2 {
                    continue;
                }
                for (row, anchor) in rows.chunks_exact(n).zip(anchors.clone()) {
                    let distance = row[m];
                    if !distance.is_finite() {
                        continue;
                    }
                    if neighbors.binary_search(&(anchor as u32)).is_ok() {
                        sums.squares += neighbors.iter().map(|&c| row[c as usize] * row[c as usize]).sum::<f64>();
                    }
                    if anchor == m {
                        continue;
                    }
                    let nearer = |&b: &u32| (distance - row[b as usize]) * (distance + row[b as usize]);
                    let part: f64 = neighbors.iter().map(nearer).sum();
                    sums.residual += part / (2.0 * distance * neighbors.len() as f64);
                    sums.half_inverse += 0.5 / distance;
                    sums.anchors += 1;
                }
            }
            Ok::<(), MidpointError>(())
        })?;
        monitor.advance(anchors.len() as u64);
    }
    let scale = if relative && farthest > 0.0 { farthest } else { 1.0 };
    let value = |(m, sums): (usize, &Sums)| {
        if sums.anchors == 0 {
            return 0.0;
        }
        let degree = graph.degree(m as u32) as f64;
        // Ordered pairs are twice the pairs.
        let between = sums.squares / (4.0 * degree * (degree - 1.0));
        (sums.residual + between * sums.half_inverse) / f64::from(sums.anchors) / scale
    };
    Ok(sums.iter().enumerate().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::midpoint::{MidpointOptions, midpoint_curvature};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(graph: &Graph, lengths: &[f64], relative: bool) -> Vec<f64> {
        weighted_midpoint_curvature(graph, lengths, relative, &Unmonitored).unwrap()
    }

    /// Eq. 1 to 3, every anchor and every pair.
    fn literal(graph: &Graph, lengths: &[f64], relative: bool) -> Vec<f64> {
        let n = graph.n_nodes();
        let mut d = vec![vec![f64::INFINITY; n]; n];
        (0..n).for_each(|v| d[v][v] = 0.0);
        for ((u, v), &length) in graph.edges().zip(lengths) {
            d[u as usize][v as usize] = length;
            d[v as usize][u as usize] = length;
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    d[i][j] = d[i][j].min(d[i][k] + d[k][j]);
                }
            }
        }
        let largest = d.iter().flatten().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
        (0..n)
            .map(|m| {
                let (mut sum, mut count) = (0.0, 0.0);
                for a in (0..n).filter(|&a| a != m && d[a][m].is_finite()) {
                    for (i, &b) in graph.neighbors(m as u32).iter().enumerate() {
                        for &c in &graph.neighbors(m as u32)[..i] {
                            let (b, c) = (b as usize, c as usize);
                            let square = |x: f64| x * x;
                            let residual =
                                square(d[a][m]) + square(d[b][c]) / 4.0 - (square(d[a][b]) + square(d[a][c])) / 2.0;
                            sum += residual / (2.0 * d[a][m]);
                            count += 1.0;
                        }
                    }
                }
                let mean = if count > 0.0 { sum / count } else { 0.0 };
                if relative && largest > 0.0 { mean / largest } else { mean }
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn values_agree_with_the_definition(
            edges in proptest::collection::vec((0u32..14, 0u32..14), 0..40), seed in 1u32..99, relative in any::<bool>(),
        ) {
            let graph = Graph::from_edges(14, &edges);
            let lengths: Vec<f64> =
                graph.edges().map(|(u, v)| f64::from((u * seed + v * 5) % 13 + 1) / 3.0).collect();
            for (found, expected) in of(&graph, &lengths, relative).iter().zip(literal(&graph, &lengths, relative)) {
                prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
            let options = MidpointOptions { relative, ..MidpointOptions::default() };
            let hops = midpoint_curvature(14, &edges, &options, &Unmonitored).unwrap().curvature;
            for (found, hops) in of(&graph, &vec![1.0; graph.n_edges()], relative).iter().zip(hops) {
                prop_assert!((found - hops.unwrap()).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_middle_of_a_line_is_flat_and_threads_do_not_matter() {
        // On a line the middle of two neighbours at the same distance is the node.
        let line = Graph::from_edges(3, &[(0, 1), (1, 2)]);
        assert_eq!(of(&line, &[2.5, 2.5], true), [0.0, 0.0, 0.0]);
        let n = 300u32;
        let graph =
            Graph::from_edges(300, &(0..n).flat_map(|v| [(v, (v + 1) % n), (v, v * v % n)]).collect::<Vec<_>>());
        let lengths: Vec<f64> = graph.edges().map(|(u, v)| 0.1 + f64::from((u * 7 + v) % 19)).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| of(&graph, &lengths, true))
        };
        assert!(run(1) == run(3));
    }

    #[test]
    fn lengths_that_are_none_are_refused_and_an_empty_graph_has_no_values() {
        let line = Graph::from_edges(3, &[(0, 1), (1, 2)]);
        let refused = |lengths: &[f64]| weighted_midpoint_curvature(&line, lengths, true, &Unmonitored).unwrap_err();
        assert_eq!(refused(&[1.0]), MidpointError::Lengths(2, 1));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(&[1.0, bad]).to_string().starts_with("the edge (1, 2) has the length"));
        }
        assert!(of(&Graph::from_edges(0, &[]), &[], true).is_empty());
        assert_eq!(of(&Graph::from_edges(2, &[]), &[], true), [0.0, 0.0]);
    }
}
