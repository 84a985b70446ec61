//! The distortion of a graph's distances by an embedding.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::Points;

/// The scaling of graph distances before they are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// By this factor, which is positive.
    Given(f64),
    /// By the factor with the least distortion.
    Best,
}

/// The figures of an embedding's distances beside those of its graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distortion {
    /// The factor lambda of graph distances; `None` where no two nodes are joined.
    pub scale: Option<f64>,
    /// The largest |d_M - lambda d_G| over pairs of nodes at a finite distance (Eq. 7).
    pub distortion: Option<f64>,
    /// The largest finite distance of the graph.
    pub diameter: u32,
    /// The pairs of nodes at a finite distance.
    pub pairs: u64,
    /// The mean of |xi_M - lambda xi_G| over valid quadruples; `None` where there are none, or where an anchor falls on
    /// a centre, so that xi_M is not defined.
    pub mismatch: Option<f64>,
    /// The largest of them.
    pub largest_mismatch: Option<f64>,
    /// C_D of Theorem 4.1.
    pub constant: f64,
    /// `mismatch / constant`, where distortion < scale / 2 makes it a lower bound of the distortion; else `None`.
    pub lower_bound: Option<f64>,
    /// The valid quadruples.
    pub quadruples: u128,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EmbeddingError {
    /// A scale that is none.
    #[error("scale => {0}: expected a positive number, or NULL for the best")]
    Scale(f64),
    /// The computation was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// C_D = 1/2 + 5/8 (2D + 1)^2 + 5/4 (2D + 1). (CurvBench, Theorem 4.1.)
pub fn distortion_constant(diameter: u32) -> f64 {
    let reach = 2.0 * f64::from(diameter) + 1.0;
    0.5 + 0.625 * reach * reach + 1.25 * reach
}

/// The scale-calibrated distortion of an embedding and its curvature mismatch (CurvBench, Theorem 4.1, Eq. 6-9). Point i
/// is node i.
///
/// A quadruple (a, b, c; m) has two neighbours b, c of m and an anchor a at a finite distance. They are weighted as in
/// the curvature of Eq. 2: centres with at least two neighbours weigh alike, then the pairs of a centre, then its
/// anchors.
///
/// Exact over all pairs and quadruples: two searches from every node, O(n (n d + m + w)) time for w pairs of neighbours
/// and d coordinates; O(n d + m + w) memory and O(n) for each thread.
///
/// # Panics
/// If there are fewer points than nodes.
pub fn embedding_distortion(
    graph: &Graph,
    points: &Points,
    scale: Scale,
    monitor: &dyn Monitor,
) -> Result<Distortion, EmbeddingError> {
    let n = graph.n_nodes();
    assert!(points.len() >= n);
    if let Scale::Given(scale) = scale
        && !(scale.is_finite() && scale > 0.0)
    {
        return Err(EmbeddingError::Scale(scale));
    }
    let wedges: usize = (0..n as u32).map(|v| wedges_at(graph, v)).sum();
    // Distances, queue and distances of points for each thread's search; the wedges; a sum and a maximum for each anchor.
    let bytes = 32 * n * (rayon::current_num_threads() + 1) + 12 * wedges;
    let _reservation = Reservation::new(monitor, bytes)?;
    monitor.expect(2 * n as u64);

    let ranges = ranges(graph, points, monitor)?;
    let diameter = ranges.by_distance.len() as u32;
    let constant = distortion_constant(diameter);
    let scale = match (diameter, scale) {
        (0, _) => None,
        (_, Scale::Given(scale)) => Some(scale),
        (_, Scale::Best) => Some(best_scale(&ranges.by_distance, monitor)?),
    };
    let distortion = scale.map(|scale| distortion_at(&ranges.by_distance, scale));
    let mismatch = match scale {
        Some(scale) => mismatch(graph, points, scale, monitor)?,
        None => Mismatch::default(),
    };
    let certified = scale.zip(distortion).is_some_and(|(scale, distortion)| distortion < scale / 2.0);
    Ok(Distortion {
        scale,
        distortion,
        diameter,
        pairs: ranges.pairs,
        mismatch: mismatch.mean,
        largest_mismatch: mismatch.largest,
        constant,
        lower_bound: mismatch.mean.filter(|_| certified).map(|mean| mean / constant),
        quadruples: mismatch.quadruples,
    })
}

fn wedges_at(graph: &Graph, v: u32) -> usize {
    let degree = graph.degree(v);
    degree * degree.saturating_sub(1) / 2
}

/// The least and the greatest distance in space of pairs at each distance in the graph, from 1.
#[derive(Debug, Default)]
struct Ranges {
    by_distance: Vec<(f64, f64)>,
    pairs: u64,
}

impl Ranges {
    fn see(&mut self, hops: u32, distance: f64) {
        if self.by_distance.len() < hops as usize {
            self.by_distance.resize(hops as usize, (f64::INFINITY, f64::NEG_INFINITY));
        }
        let (least, greatest) = &mut self.by_distance[hops as usize - 1];
        *least = least.min(distance);
        *greatest = greatest.max(distance);
        self.pairs += 1;
    }

    fn merge(mut self, other: Self) -> Self {
        if self.by_distance.len() < other.by_distance.len() {
            return other.merge(self);
        }
        for (own, other) in self.by_distance.iter_mut().zip(&other.by_distance) {
            *own = (own.0.min(other.0), own.1.max(other.1));
        }
        self.pairs += other.pairs;
        self
    }
}

/// A breadth-first search, reused from anchor to anchor.
struct Search {
    hops: Vec<u32>,
    order: Vec<u32>,
    distance: Vec<f64>,
    halves: Vec<f64>,
}

const FAR: u32 = u32::MAX;

impl Search {
    fn new(n: usize) -> Self {
        Self { hops: vec![FAR; n], order: Vec::with_capacity(n), distance: vec![0.0; n], halves: Vec::new() }
    }

    fn run(&mut self, graph: &Graph, anchor: u32) {
        self.order.iter().for_each(|&v| self.hops[v as usize] = FAR);
        self.order.clear();
        self.hops[anchor as usize] = 0;
        self.order.push(anchor);
        let mut next = 0;
        while let Some(&u) = self.order.get(next) {
            next += 1;
            for &v in graph.neighbors(u) {
                if self.hops[v as usize] == FAR {
                    self.hops[v as usize] = self.hops[u as usize] + 1;
                    self.order.push(v);
                }
            }
        }
    }
}

fn ranges(graph: &Graph, points: &Points, monitor: &dyn Monitor) -> Result<Ranges, Stopped> {
    let n = graph.n_nodes();
    // Extremes and counts: any order of merging gives the same.
    let folded = (0..n as u32).into_par_iter().try_fold(
        || (Search::new(n), Ranges::default()),
        |(mut search, mut ranges), anchor| {
            monitor.check()?;
            search.run(graph, anchor);
            for &v in search.order.iter().filter(|&&v| v > anchor) {
                ranges.see(search.hops[v as usize], points.distance(anchor as usize, v as usize));
            }
            monitor.advance(1);
            Ok((search, ranges))
        },
    );
    folded.map(|folded| folded.map(|(_, ranges)| ranges)).try_reduce(Ranges::default, |a, b| Ok(a.merge(b)))
}

/// The largest deviation for a scale. O(D).
fn distortion_at(ranges: &[(f64, f64)], scale: f64) -> f64 {
    let deviations =
        ranges.iter().enumerate().filter(|(_, range)| range.0 <= range.1).map(|(i, &(least, greatest))| {
            let scaled = scale * (i + 1) as f64;
            (greatest - scaled).max(scaled - least)
        });
    deviations.fold(0.0, f64::max)
}

/// The scale with the least distortion: where the highest of the falling lines (greatest - scale k) meets the highest of
/// the rising ones (scale k - least). Every pair of lines meets at or below that height, so it is the highest meeting.
/// Exact; O(D^2).
fn best_scale(ranges: &[(f64, f64)], monitor: &dyn Monitor) -> Result<f64, Stopped> {
    let (mut highest, mut best) = (f64::NEG_INFINITY, 0.0);
    for (i, &(_, greatest)) in ranges.iter().enumerate() {
        if i % 64 == 0 {
            monitor.check()?;
        }
        let falling = (i + 1) as f64;
        for (j, &(least, _)) in ranges.iter().enumerate() {
            let rising = (j + 1) as f64;
            let height = (rising * greatest - falling * least) / (falling + rising);
            if height > highest {
                (highest, best) = (height, (greatest + least) / (falling + rising));
            }
        }
    }
    Ok(best)
}

#[derive(Debug, Default)]
struct Mismatch {
    mean: Option<f64>,
    largest: Option<f64>,
    quadruples: u128,
}

/// Pairs of neighbours of every node: the squares of their distances in space and in the graph, where it is 1 or 2.
struct Wedges {
    start: Vec<usize>,
    in_space: Vec<f64>,
    in_graph: Vec<f32>,
}

impl Wedges {
    fn new(graph: &Graph, points: &Points, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        let mut wedges = Self { start: vec![0], in_space: Vec::new(), in_graph: Vec::new() };
        for m in 0..graph.n_nodes() as u32 {
            for (i, &c) in graph.neighbors(m).iter().enumerate() {
                if i % 256 == 0 {
                    monitor.check()?;
                }
                for &b in &graph.neighbors(m)[..i] {
                    let distance = points.distance(b as usize, c as usize);
                    wedges.in_space.push(distance * distance);
                    wedges.in_graph.push(if graph.has_edge(b, c) { 1.0 } else { 4.0 });
                }
            }
            wedges.start.push(wedges.in_space.len());
        }
        Ok(wedges)
    }
}

fn mismatch(graph: &Graph, points: &Points, scale: f64, monitor: &dyn Monitor) -> Result<Mismatch, Stopped> {
    let n = graph.n_nodes();
    let wedges = Wedges::new(graph, points, monitor)?;
    let anchors = (0..n as u32).into_par_iter().map_init(
        || Search::new(n),
        |search, anchor| {
            monitor.check()?;
            search.run(graph, anchor);
            for &v in &search.order {
                search.distance[v as usize] = points.distance(anchor as usize, v as usize);
            }
            // All other nodes of the component are anchors of a centre, as many as there are here.
            let anchors = search.order.len().saturating_sub(1) as f64;
            let (mut sum, mut largest, mut count) = (0.0, 0.0_f64, 0u64);
            for &m in search.order.iter().skip(1).filter(|&&m| graph.degree(m) > 1) {
                // xi_M - lambda xi_G = centre + pair / 4 - b / 2 - c / 2, where each is the difference of two squared
                // distances, divided by twice the anchor's distance of the centre.
                let (hops, distance) = (f64::from(search.hops[m as usize]), search.distance[m as usize]);
                let (by_space, by_graph) = (0.5 / distance, 0.5 * scale / hops);
                let centre = 0.5 * (distance - scale * hops);
                search.halves.clear();
                search.halves.extend(graph.neighbors(m).iter().map(|&v| {
                    let (hops, distance) = (f64::from(search.hops[v as usize]), search.distance[v as usize]);
                    0.5 * (distance * distance * by_space - hops * hops * by_graph)
                }));
                let (by_space, by_graph) = (0.25 * by_space, 0.25 * by_graph);
                let mut at = wedges.start[m as usize];
                let mut of_centre = 0.0;
                for (i, half) in search.halves.iter().enumerate() {
                    let rest = centre - half;
                    let squares = wedges.in_space[at..at + i].iter().zip(&wedges.in_graph[at..at + i]);
                    for ((space, graph), half) in squares.zip(&search.halves) {
                        let mismatch = (rest + (space * by_space - f64::from(*graph) * by_graph) - half).abs();
                        of_centre += mismatch;
                        largest = largest.max(mismatch);
                    }
                    at += i;
                }
                let pairs = at - wedges.start[m as usize];
                sum += of_centre / (pairs as f64 * anchors);
                count += pairs as u64;
            }
            monitor.advance(1);
            Ok((sum, largest, count))
        },
    );
    let anchors: Vec<(f64, f64, u64)> = anchors.collect::<Result<_, Stopped>>()?;
    let quadruples = anchors.iter().map(|anchor| u128::from(anchor.2)).sum();
    let centres = (0..n as u32).filter(|&v| graph.degree(v) > 1).count();
    let sum: f64 = anchors.iter().map(|anchor| anchor.0).sum();
    let defined = quadruples > 0 && sum.is_finite();
    Ok(Mismatch {
        mean: defined.then(|| sum / centres as f64),
        largest: defined.then(|| anchors.iter().map(|anchor| anchor.1).fold(0.0, f64::max)),
        quadruples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metric;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    fn of(graph: &Graph, metric: Metric, dimension: usize, coordinates: Vec<f64>, scale: Scale) -> Distortion {
        let points = Points::new(metric, 1.0, dimension, coordinates).unwrap();
        embedding_distortion(graph, &points, scale, &Unmonitored).unwrap()
    }

    fn path(n: u32) -> Graph {
        Graph::from_edges(n as usize, &(1..n).map(|v| (v - 1, v)).collect::<Vec<_>>())
    }

    fn cycle(n: u32) -> Graph {
        Graph::from_edges(n as usize, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>())
    }

    fn close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
    }

    #[test]
    fn a_path_on_a_line_is_not_distorted() {
        let found = of(&path(9), Metric::Euclidean, 1, (0..9).map(|i| f64::from(i) * 0.5).collect(), Scale::Best);
        close(found.scale, 0.5);
        close(found.distortion, 0.0);
        close(found.mismatch, 0.0);
        close(found.lower_bound, 0.0);
        assert_eq!((found.diameter, found.pairs, found.quadruples), (8, 36, 7 * 8));
    }

    #[test]
    fn a_path_on_a_geodesic_of_the_hyperboloid_is_not_distorted() {
        let coordinates = (0..6).flat_map(|i| [f64::from(i).cosh(), f64::from(i).sinh()]).collect();
        let found = of(&path(6), Metric::Lorentz, 2, coordinates, Scale::Best);
        assert!((found.scale.unwrap() - 1.0).abs() < 1e-9 && found.distortion.unwrap() < 1e-9);
        assert!(found.mismatch.unwrap() < 1e-9);
    }

    #[test]
    fn a_cycle_on_a_circle_is_as_long_as_its_arcs() {
        let angle = |i: u32| 2.0 * PI * f64::from(i) / 8.0;
        let coordinates: Vec<f64> = (0..8).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect();
        let arcs = of(&cycle(8), Metric::Spherical, 2, coordinates.clone(), Scale::Best);
        close(arcs.scale, PI / 4.0);
        assert!(arcs.distortion.unwrap() < 1e-12 && arcs.mismatch.unwrap() < 1e-12);
        // The chords 2 sin(pi k / 8) at the hop distances k: the best line through the origin, by hand.
        let chords = of(&cycle(8), Metric::Euclidean, 2, coordinates, Scale::Best);
        let chord = |k: f64| 2.0 * (PI * k / 8.0).sin();
        let scale = (chord(2.0) + chord(4.0)) / 6.0;
        close(chords.scale, scale);
        close(chords.distortion, chord(2.0) - 2.0 * scale);
    }

    #[test]
    fn a_given_scale_is_kept_and_a_bad_one_refused() {
        let found = of(&path(3), Metric::Euclidean, 1, vec![0.0, 1.0, 2.0], Scale::Given(2.0));
        assert_eq!((found.scale, found.distortion, found.lower_bound), (Some(2.0), Some(2.0), None));
        let points = Points::new(Metric::Euclidean, 1.0, 1, vec![0.0, 1.0, 2.0]).unwrap();
        for scale in [0.0, -1.0, f64::NAN] {
            let refused = embedding_distortion(&path(3), &points, Scale::Given(scale), &Unmonitored);
            assert!(matches!(refused, Err(EmbeddingError::Scale(_))));
        }
    }

    #[test]
    fn nodes_that_fall_together_have_no_mismatch_and_certify_nothing() {
        let found = of(&path(4), Metric::Euclidean, 1, vec![0.0; 4], Scale::Best);
        assert_eq!(
            (found.scale, found.distortion, found.mismatch, found.lower_bound),
            (Some(0.0), Some(0.0), None, None)
        );
    }

    #[test]
    fn a_graph_without_edges_has_no_distances() {
        let found = of(&Graph::from_edges(2, &[]), Metric::Euclidean, 1, vec![0.0, 1.0], Scale::Best);
        assert_eq!((found.scale, found.distortion, found.pairs, found.mismatch), (None, None, 0, None));
    }

    /// xi of Eq. 6.
    fn residual(anchor_centre: f64, pair: f64, anchor_b: f64, anchor_c: f64) -> f64 {
        (anchor_centre * anchor_centre + 0.25 * pair * pair - 0.5 * (anchor_b * anchor_b + anchor_c * anchor_c))
            / (2.0 * anchor_centre)
    }

    /// The definitions with all distances in tables.
    fn literal(graph: &Graph, points: &Points, scale: f64) -> (f64, f64, f64) {
        let n = graph.n_nodes();
        let mut hops = vec![vec![f64::INFINITY; n]; n];
        for (v, row) in hops.iter_mut().enumerate() {
            row[v] = 0.0;
            graph.neighbors(v as u32).iter().for_each(|&u| row[u as usize] = 1.0);
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    hops[i][j] = hops[i][j].min(hops[i][k] + hops[k][j]);
                }
            }
        }
        let d = |i: usize, j: usize| points.distance(i, j);
        let mut distortion: f64 = 0.0;
        let (mut means, mut largest) = (Vec::new(), 0.0_f64);
        for m in 0..n {
            (0..n).filter(|&v| hops[m][v].is_finite()).for_each(|v| {
                distortion = distortion.max((d(m, v) - scale * hops[m][v]).abs());
            });
            let neighbors: Vec<usize> = (0..n).filter(|&v| hops[m][v] == 1.0).collect();
            let mut all = Vec::new();
            for &b in &neighbors {
                for &c in neighbors.iter().filter(|&&c| c > b) {
                    for a in (0..n).filter(|&a| a != m && hops[a][m].is_finite()) {
                        let graph = residual(hops[a][m], hops[b][c], hops[a][b], hops[a][c]);
                        all.push((residual(d(a, m), d(b, c), d(a, b), d(a, c)) - scale * graph).abs());
                    }
                }
            }
            largest = all.iter().copied().fold(largest, f64::max);
            if !all.is_empty() {
                means.push(all.iter().sum::<f64>() / all.len() as f64);
            }
        }
        (distortion, means.iter().sum::<f64>() / means.len() as f64, largest)
    }

    proptest! {
        #[test]
        fn it_is_the_definition_and_the_theorem_holds(
            edges in prop::collection::vec((0..8u32, 0..8u32), 1..16),
            coordinates in prop::collection::vec(-0.6..0.6f64, 16),
            near in 0.0..0.05f64,
            metric in prop::sample::select(vec![Metric::Euclidean, Metric::Poincare]),
        ) {
            let graph = Graph::from_edges(8, &edges);
            prop_assume!(graph.n_edges() > 0);
            // Near a line every distance is nearly that of a path: some runs reach the theorem's condition.
            let coordinates: Vec<f64> =
                coordinates.iter().enumerate().map(|(i, x)| if i % 2 == 0 { x * near + 0.08 * i as f64 - 0.6 } else { x * near }).collect();
            let points = Points::new(metric, 1.0, 2, coordinates).unwrap();
            let found = embedding_distortion(&graph, &points, Scale::Best, &Unmonitored).unwrap();
            let scale = found.scale.unwrap();
            let (distortion, mean, largest) = literal(&graph, &points, scale);
            prop_assert!((found.distortion.unwrap() - distortion).abs() < 1e-12);
            if let (Some(m), Some(l)) = (found.mismatch, found.largest_mismatch) {
                prop_assert!((m - mean).abs() < 1e-9 * mean.max(1.0), "{m} {mean}");
                prop_assert!((l - largest).abs() < 1e-9 * largest.max(1.0));
                if distortion < scale / 2.0 {
                    prop_assert!(l <= found.constant * distortion + 1e-12);
                    prop_assert!(found.lower_bound.unwrap() <= distortion + 1e-12);
                }
            }
            // No other scale is better.
            for factor in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
                let other = literal(&graph, &points, scale * factor).0;
                prop_assert!(other >= distortion - 1e-12, "{factor}: {other} {distortion}");
            }
        }
    }

    #[test]
    fn the_theorem_is_not_empty() {
        // A path that bends a little: the bound is certified, positive, and below the distortion.
        let coordinates = (0..6).flat_map(|i| [f64::from(i), 0.05 * f64::from(i % 2)]).collect();
        let found = of(&path(6), Metric::Euclidean, 2, coordinates, Scale::Best);
        let (bound, distortion) = (found.lower_bound.unwrap(), found.distortion.unwrap());
        assert!(0.0 < bound && bound < distortion, "{bound} {distortion}");
    }

    #[test]
    fn the_number_of_threads_changes_no_digit() {
        let edges: Vec<(u32, u32)> = (0..300u32).map(|i| (i * 7 % 97, i * 31 % 89)).collect();
        let graph = Graph::from_edges(97, &edges);
        let points =
            Points::new(Metric::Euclidean, 1.0, 2, (0..194).map(|i| f64::from(i * 37 % 101)).collect()).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| embedding_distortion(&graph, &points, Scale::Best, &Unmonitored).unwrap())
        };
        assert_eq!(on(1), on(3));
    }
}
