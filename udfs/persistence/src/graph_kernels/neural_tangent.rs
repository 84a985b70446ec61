//! The graph neural tangent kernel.

use std::f64::consts::PI;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::gram::PairValues;
use crate::colors::GraphSet;

/// How far from 1 a correlation of 1 may be by rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The network whose kernel it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeuralTangentOptions {
    /// The blocks, each a sum over neighbours and then layers.
    pub blocks: usize,
    /// The fully connected layers of a block.
    pub layers: usize,
    /// Whether the sum over a node and its neighbours is divided by their number.
    pub mean: bool,
    /// Whether the readout takes the outputs of all blocks (jumping knowledge) instead of those of the last one.
    pub jumping_knowledge: bool,
}

/// The graph neural tangent kernel of all pairs of graphs (Du et al., Graph Neural Tangent Kernel, NeurIPS 2019, Sec. 3): that of an
/// infinitely wide network of ReLU layers which sums over each node and its neighbours, and over all nodes at the end. The features of a
/// node are the unit vector of its label; without labels all nodes have one.
///
/// O(n n' + n m' + n' m) time a block and layer for graphs of n, n' nodes and m, m' edges; 40 n n' bytes a thread. With one thread as
/// with many the sums are those of the same order.
///
/// # Errors
/// The monitor stopped the work.
pub fn graph_neural_tangent_kernel(
    set: &GraphSet,
    options: NeuralTangentOptions,
    monitor: &dyn Monitor,
) -> Result<PairValues, Stopped> {
    let n = set.union().n_nodes();
    let depth = options.blocks * options.layers;
    let most = (0..set.len()).map(|i| set.nodes(i).len()).max().unwrap_or(0);
    let threads = rayon::current_num_threads();
    let scratch = 40usize.saturating_mul(most).saturating_mul(most).saturating_mul(threads);
    let held = (8 * n * depth).saturating_add(GraphSet::bytes(n, set.union().n_edges())).saturating_add(scratch);
    let _held = Reservation::new(monitor, held.saturating_add(PairValues::bytes(set.len())))?;
    let sides = (0..set.len()).into_par_iter().map(|i| {
        let mut side = Side { graph: set.graph(i), labels: &set.labels()[set.nodes(i)], deviations: Vec::new() };
        side.deviations = Covariances::default().deviations(&side, options, monitor)?;
        Ok(side)
    });
    let sides = sides.collect::<Result<Vec<_>, Stopped>>()?;
    PairValues::by_rows(set.len(), monitor, Covariances::default, |covariances, i| {
        (0..=i).map(|j| covariances.kernel(&sides[i], &sides[j], options, monitor)).collect()
    })
}

/// A graph, and the standard deviation of each node's input to each layer.
struct Side<'a> {
    graph: Graph,
    labels: &'a [u32],
    deviations: Vec<Vec<f64>>,
}

/// The covariances of the nodes of two graphs, row by row, and the tangent kernel's.
#[derive(Default)]
struct Covariances {
    covariance: Vec<f64>,
    tangent: Vec<f64>,
    scratch: Vec<f64>,
}

impl Covariances {
    /// The deviations of the inputs of one graph's layers.
    fn deviations(
        &mut self,
        side: &Side<'_>,
        options: NeuralTangentOptions,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Vec<f64>>, Stopped> {
        let n = side.labels.len();
        let mut all = Vec::new();
        self.begin(side, side);
        for _ in 0..options.blocks {
            monitor.check()?;
            self.sum_neighbours(side, side, options.mean);
            for _ in 0..options.layers {
                let deviations: Vec<f64> = (0..n).map(|u| self.covariance[u * n + u].sqrt()).collect();
                self.layer(&deviations, &deviations);
                all.push(deviations);
            }
        }
        Ok(all)
    }

    fn kernel(
        &mut self,
        a: &Side<'_>,
        b: &Side<'_>,
        options: NeuralTangentOptions,
        monitor: &dyn Monitor,
    ) -> Result<f64, Stopped> {
        self.begin(a, b);
        let mut sum = 0.0;
        let mut deviations = a.deviations.iter().zip(&b.deviations);
        for _ in 0..options.blocks {
            monitor.check()?;
            if options.jumping_knowledge {
                sum += self.tangent.iter().sum::<f64>();
            }
            self.sum_neighbours(a, b, options.mean);
            for (of_a, of_b) in deviations.by_ref().take(options.layers) {
                self.layer(of_a, of_b);
            }
        }
        Ok(sum + self.tangent.iter().sum::<f64>())
    }

    fn begin(&mut self, a: &Side<'_>, b: &Side<'_>) {
        self.covariance.clear();
        for &x in a.labels {
            self.covariance.extend(b.labels.iter().map(|&y| if x == y { 1.0 } else { 0.0 }));
        }
        self.tangent.clone_from(&self.covariance);
    }

    /// Sums over each node and its neighbours, on both sides.
    fn sum_neighbours(&mut self, a: &Side<'_>, b: &Side<'_>, mean: bool) {
        let (n, m) = (a.labels.len(), b.labels.len());
        for values in [&mut self.covariance, &mut self.tangent] {
            self.scratch.clear();
            for row in values.chunks_exact(m.max(1)) {
                self.scratch.extend((0..m as u32).map(|v| {
                    let sum = b.graph.neighbors(v).iter().fold(row[v as usize], |sum, &w| sum + row[w as usize]);
                    if mean { sum / (b.graph.degree(v) + 1) as f64 } else { sum }
                }));
            }
            for u in 0..n as u32 {
                let row = &mut values[u as usize * m..(u as usize + 1) * m];
                row.copy_from_slice(&self.scratch[u as usize * m..(u as usize + 1) * m]);
                for &w in a.graph.neighbors(u) {
                    let other = &self.scratch[w as usize * m..(w as usize + 1) * m];
                    row.iter_mut().zip(other).for_each(|(sum, value)| *sum += value);
                }
                if mean {
                    let size = (a.graph.degree(u) + 1) as f64;
                    row.iter_mut().for_each(|sum| *sum /= size);
                }
            }
        }
    }

    /// A fully connected layer with ReLU, scaled so that a node's own variance stays.
    fn layer(&mut self, of_a: &[f64], of_b: &[f64]) {
        let rows = self.covariance.chunks_exact_mut(of_b.len().max(1));
        for ((row, tangents), &a) in rows.zip(self.tangent.chunks_exact_mut(of_b.len().max(1))).zip(of_a) {
            for ((covariance, tangent), &b) in row.iter_mut().zip(tangents).zip(of_b) {
                let scale = a * b;
                let mut cosine = (*covariance / scale).clamp(-1.0, 1.0);
                // Nodes that are alike: the angle of a rounding error would be its square root.
                if 1.0 - cosine < ROUNDING {
                    cosine = 1.0;
                }
                let angle = PI - cosine.acos();
                *covariance = (cosine * angle + (1.0 - cosine * cosine).sqrt()) / PI * scale;
                *tangent = *tangent * angle / PI + *covariance;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::graphs;
    use super::*;
    use crate::colors::testing::set;
    use bonnet_graph::Unmonitored;

    const PLAIN: NeuralTangentOptions =
        NeuralTangentOptions { blocks: 2, layers: 2, mean: false, jumping_knowledge: false };

    /// Sigma and Theta of Sec. 3.2 between two nodes of the union, by recursion; with each covariance of a layer the variances.
    fn literal(
        set: &GraphSet,
        (u, v): (usize, usize),
        block: usize,
        layer: usize,
        options: NeuralTangentOptions,
    ) -> [f64; 2] {
        if block == 0 {
            let same = if set.labels()[u] == set.labels()[v] { 1.0 } else { 0.0 };
            return [same, same];
        }
        if layer == 0 {
            let with = |v: usize| {
                let mut all: Vec<usize> = set.union().neighbors(v as u32).iter().map(|&w| w as usize).collect();
                all.push(v);
                all
            };
            let (around_u, around_v) = (with(u), with(v));
            let below = if block == 1 { 0 } else { options.layers };
            let mut sums = [0.0; 2];
            for &x in &around_u {
                for &y in &around_v {
                    let of = literal(set, (x, y), block - 1, below, options);
                    (0..2).for_each(|i| sums[i] += of[i]);
                }
            }
            let scale = if options.mean { 1.0 / (around_u.len() * around_v.len()) as f64 } else { 1.0 };
            return sums.map(|sum| sum * scale);
        }
        let [covariance, tangent] = literal(set, (u, v), block, layer - 1, options);
        let scale = (literal(set, (u, u), block, layer - 1, options)[0]
            * literal(set, (v, v), block, layer - 1, options)[0])
            .sqrt();
        let cosine = (covariance / scale).clamp(-1.0, 1.0);
        let next = scale * (cosine * (PI - cosine.acos()) + (1.0 - cosine * cosine).sqrt()) / PI;
        [next, tangent * (PI - cosine.acos()) / PI + next]
    }

    #[test]
    fn values_are_those_of_the_recursion() {
        for labelled in [false, true] {
            let set = graphs(200, labelled);
            for options in [
                PLAIN,
                NeuralTangentOptions { mean: true, ..PLAIN },
                NeuralTangentOptions { jumping_knowledge: true, layers: 1, ..PLAIN },
            ] {
                let found = graph_neural_tangent_kernel(&set, options, &Unmonitored).unwrap();
                for i in 0..set.len() {
                    // The recursion is slow: a sample of the pairs, and no large ones.
                    for j in
                        (0..=i).filter(|j| (i * 31 + j) % 61 == 0 && set.nodes(i).len() * set.nodes(*j).len() <= 20)
                    {
                        let mut expected = 0.0;
                        for u in set.nodes(i) {
                            for v in set.nodes(j) {
                                let first = if options.jumping_knowledge { 0 } else { options.blocks };
                                for block in first..=options.blocks {
                                    let layer = if block == 0 { 0 } else { options.layers };
                                    expected += literal(&set, (u, v), block, layer, options)[1];
                                }
                            }
                        }
                        let error = (found.get(i, j) - expected).abs() / expected.max(1.0);
                        assert!(error < 1e-6, "{i} {j}: {} {expected}", found.get(i, j));
                    }
                }
            }
        }
    }

    #[test]
    fn single_nodes_and_no_blocks_have_closed_forms() {
        // A node by itself: covariance 1, and each layer adds 1 to the tangent kernel.
        let nodes = set(&[(1, vec![]), (3, vec![]), (0, vec![])], None);
        let found = graph_neural_tangent_kernel(&nodes, PLAIN, &Unmonitored).unwrap();
        assert_eq!((found.get(0, 0), found.get(0, 1), found.get(1, 1), found.get(0, 2)), (5.0, 15.0, 45.0, 0.0));
        let none = NeuralTangentOptions { blocks: 0, ..PLAIN };
        let found = graph_neural_tangent_kernel(&nodes, none, &Unmonitored).unwrap();
        assert_eq!((found.get(0, 0), found.get(1, 1)), (1.0, 9.0));
    }
}
