//! Means over the ego graph of each node after a small convolution.

use std::sync::Arc;

use bonnet_graph::{Graph, Reservation, Stopped};
use rayon::prelude::*;

use super::messages::Messages;
use super::operator::Operator;
use crate::data::Features;
use crate::ground::random::key;
use crate::kernels::simd::{Body, Vectors, run_wide};
use crate::network::sampling::Sampler;

/// Separates the draw of ego graphs from other uses of the seed.
const EGO: u64 = 15;

/// Nodes whose ego graphs a task takes one after the other.
const BLOCK: usize = 256;

/// Nodes from which the size of ego graphs is judged.
const JUDGED: usize = 256;

/// Marks a node outside an ego graph.
const OUTSIDE: u32 = u32::MAX;

/// The mean over the nodes of each node's ego graph of two rounds of `D^-1/2 (A + I) D^-1/2` within that graph: row v of the
/// matrix is `1/n 1' P_v^2` for the nodes within `hops` edges of v and the edges between them.
///
/// The convolution has no activation between its rounds, so that this row is all of it: no graph is built in training.
#[derive(Debug)]
pub enum EgoMeans {
    /// The matrix, where ego graphs are small.
    Matrix(Operator),
    /// Its product with the features, where ego graphs have more nodes than there are features: a linear map of the
    /// features is averaged as they are.
    Features(Features),
}

/// The means over the ego graphs of a graph. Where a node has more than `fanout` neighbours, `fanout` of them are drawn from
/// the seed, for each node v independently. Messages have the weights of the edges, which are none below 0, and are those of
/// the graph. O(sum of the degrees in all ego graphs * log) time, and for features O(their number * nodes of all ego graphs);
/// 8 bytes for each of these nodes, or 4 for each feature of each node.
///
/// # Errors
/// If the host refuses the memory, or wants no answer any more.
pub fn ego_means(
    graph: &Arc<Graph>,
    messages: &Messages,
    features: &Features,
    (hops, fanout): (usize, Option<u32>),
    seed: u64,
    reservation: &mut Reservation<'_>,
) -> Result<EgoMeans, Stopped> {
    let egos = Egos { graph, messages, hops, fanout, seed };
    let columns = features.n_columns();
    if columns > 0 && egos.mean_size(reservation)? > columns as f64 {
        Ok(EgoMeans::Features(egos.features(features, reservation)?))
    } else {
        Ok(EgoMeans::Matrix(egos.matrix(reservation)?))
    }
}

/// The columns and values of a row of the matrix.
type Row = (Vec<u32>, Vec<f32>);

/// The ego graphs of a graph.
#[derive(Debug, Clone, Copy)]
struct Egos<'a> {
    graph: &'a Graph,
    messages: &'a Messages,
    hops: usize,
    fanout: Option<u32>,
    seed: u64,
}

impl Egos<'_> {
    /// The nodes of an ego graph on average, from some that stand evenly in the order of the nodes.
    fn mean_size(self, reservation: &Reservation<'_>) -> Result<f64, Stopped> {
        let mut held = Reservation::new(reservation.monitor(), 0)?;
        let mut ego = Ego::new(self, &mut held)?;
        let (n, mut sum) = (self.graph.n_nodes(), 0);
        let count = n.min(JUDGED);
        for at in 0..count {
            ego.find((at * n / count) as u32, &held)?;
            sum += ego.nodes.len();
        }
        Ok(sum as f64 / count.max(1) as f64)
    }

    fn matrix(self, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        let (n, monitor) = (self.graph.n_nodes(), reservation.monitor());
        let nodes: Vec<u32> = (0..n as u32).collect();
        let block = |nodes: &[u32]| -> Result<Vec<Row>, Stopped> {
            let mut held = Reservation::new(monitor, 0)?;
            let mut ego = Ego::new(self, &mut held)?;
            let mut row = |&v: &u32| {
                ego.average(v, &held)?;
                Ok((ego.nodes.clone(), ego.values.iter().map(|value| *value as f32).collect()))
            };
            nodes.iter().map(&mut row).collect()
        };
        let blocks: Vec<_> = nodes.par_chunks(BLOCK).map(block).collect::<Result<_, Stopped>>()?;
        let entries: usize = blocks.iter().flatten().map(|(nodes, _)| nodes.len()).sum();
        reservation.grow(Operator::matrix_bytes(n, entries))?;
        let (mut offsets, mut columns, mut values) =
            (vec![0], Vec::with_capacity(entries), Vec::with_capacity(entries));
        for row in blocks.into_iter().flatten() {
            columns.extend(row.0);
            values.extend(row.1);
            offsets.push(columns.len());
        }
        Ok(Operator::from_rows(offsets, columns, values, false))
    }

    /// Sums are in the order of the nodes of an ego graph.
    fn features(self, features: &Features, reservation: &mut Reservation<'_>) -> Result<Features, Stopped> {
        let (n, width, monitor) = (self.graph.n_nodes(), features.n_columns(), reservation.monitor());
        reservation.grow(4 * n * width)?;
        let mut means = vec![0f32; n * width];
        means.par_chunks_mut(BLOCK * width).enumerate().try_for_each(|(block, out)| -> Result<(), Stopped> {
            let mut held = Reservation::new(monitor, 8 * width)?;
            let mut ego = Ego::new(self, &mut held)?;
            let mut sum = vec![0.0; width];
            for (at, out) in out.chunks_exact_mut(width).enumerate() {
                ego.average((block * BLOCK + at) as u32, &held)?;
                sum.fill(0.0);
                match features {
                    Features::Dense { values: x, .. } => {
                        run_wide(Sum { nodes: &ego.nodes, factors: &ego.values, x, sum: &mut sum });
                    }
                    Features::Sparse(rows) => {
                        for (&u, factor) in ego.nodes.iter().zip(&ego.values) {
                            let (columns, values) = rows.row(u as usize);
                            let entries = columns.iter().zip(values);
                            entries.for_each(|(&column, x)| sum[column as usize] += factor * f64::from(*x));
                        }
                    }
                    Features::None => {}
                }
                out.iter_mut().zip(&sum).for_each(|(out, sum)| *out = *sum as f32);
            }
            Ok(())
        })?;
        Ok(Features::Dense { columns: width, values: means })
    }
}

/// `sum += factor * row` for rows of `x` of as many numbers.
struct Sum<'a> {
    nodes: &'a [u32],
    factors: &'a [f64],
    x: &'a [f32],
    sum: &'a mut [f64],
}

impl Body for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { nodes, factors, x, sum } = self;
        let row = |node: u32| &x[node as usize * sum.len()..][..sum.len()];
        let rows: Vec<&[f32]> = nodes.iter().map(|&node| row(node)).collect();
        for (at, (row, factor)) in rows.iter().zip(factors).enumerate() {
            if let Some(next) = rows.get(at + 2) {
                next.chunks(16).for_each(|line| V::ask(&line[0]));
            }
            sum.iter_mut().zip(*row).for_each(|(sum, x)| *sum += factor * f64::from(*x));
        }
    }
}

/// One ego graph after the other.
struct Ego<'a> {
    of: Egos<'a>,
    /// Draws the nodes where there is a fanout.
    sampler: Option<Sampler<'a>>,
    /// The number of a node in the ego graph.
    place: Vec<u32>,
    /// The nodes, ascending.
    nodes: Vec<u32>,
    /// The neighbours within the ego graph, by their numbers, and the weights of these edges unless each is 1.
    offsets: Vec<usize>,
    inside: Vec<u32>,
    weights: Vec<f64>,
    /// `D^-1/2` of the ego graph with loops.
    roots: Vec<f64>,
    /// The mean over the ego graph, as factors of its nodes.
    values: Vec<f64>,
    before: Vec<f64>,
}

impl<'a> Ego<'a> {
    fn new(of: Egos<'a>, held: &mut Reservation<'_>) -> Result<Self, Stopped> {
        // At most all nodes and edges.
        let (n, weighted) = (of.graph.n_nodes(), of.messages.weights(0).is_some());
        held.grow(40 * n + of.graph.targets().len() * if weighted { 12 } else { 4 })?;
        let sampler = of.fanout.map(|_| Sampler::new(of.graph, held)).transpose()?;
        let place = vec![OUTSIDE; n];
        let empty = Vec::new;
        let (nodes, offsets, inside) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            of,
            sampler,
            place,
            nodes,
            offsets,
            inside,
            weights: empty(),
            roots: empty(),
            values: empty(),
            before: empty(),
        })
    }

    /// Finds the nodes.
    fn find(&mut self, v: u32, held: &Reservation<'_>) -> Result<(), Stopped> {
        let Egos { graph, hops, fanout, seed, .. } = self.of;
        if let (Some(sampler), Some(fanout)) = (&mut self.sampler, fanout) {
            let mut drawn = Reservation::new(held.monitor(), 0)?;
            let key = key(&[seed, EGO, u64::from(v)]);
            self.nodes = sampler.sample(&[v], &vec![fanout; hops], key, &mut drawn)?.nodes;
            return Ok(());
        }
        held.check()?;
        self.nodes.clear();
        self.nodes.push(v);
        self.place[v as usize] = 0;
        let mut done = 0;
        for _ in 0..hops {
            let ring = done..self.nodes.len();
            done = ring.end;
            for at in ring {
                for &u in graph.neighbors(self.nodes[at]) {
                    if std::mem::replace(&mut self.place[u as usize], 0) == OUTSIDE {
                        self.nodes.push(u);
                    }
                }
            }
        }
        self.nodes.iter().for_each(|&u| self.place[u as usize] = OUTSIDE);
        self.nodes.sort_unstable();
        Ok(())
    }

    /// Finds the nodes and their factors.
    fn average(&mut self, v: u32, held: &Reservation<'_>) -> Result<(), Stopped> {
        self.find(v, held)?;
        self.nodes.iter().zip(0..).for_each(|(&u, at)| self.place[u as usize] = at);
        self.inside.clear();
        self.weights.clear();
        self.offsets.clear();
        self.offsets.push(0);
        let messages = self.of.messages;
        for &u in &self.nodes {
            let inside = |w: &u32| Some(self.place[*w as usize]).filter(|&at| at != OUTSIDE);
            match messages.weights(u) {
                None => self.inside.extend(messages.neighbors(u).iter().filter_map(inside)),
                Some(weights) => {
                    for (w, weight) in messages.neighbors(u).iter().zip(weights) {
                        let Some(at) = inside(w) else { continue };
                        self.inside.push(at);
                        self.weights.push(*weight);
                    }
                }
            }
            self.offsets.push(self.inside.len());
        }
        self.nodes.iter().for_each(|&u| self.place[u as usize] = OUTSIDE);
        let degree = |row: &[usize]| match self.weights.get(row[0]..row[1]) {
            Some(weights) if !weights.is_empty() => weights.iter().sum(),
            _ => (row[1] - row[0]) as f64,
        };
        self.roots.clear();
        self.roots.extend(self.offsets.windows(2).map(|row| 1.0 / (degree(row) + 1.0).sqrt()));
        // The matrix is symmetric: 1' P^2 = (P (P 1))'.
        self.values.clear();
        self.values.resize(self.nodes.len(), 1.0);
        (0..2).for_each(|_| self.round());
        let size = self.nodes.len() as f64;
        self.values.iter_mut().for_each(|value| *value /= size);
        Ok(())
    }

    /// Multiplies the factors by `D^-1/2 (A + I) D^-1/2`.
    fn round(&mut self) {
        let Self { offsets, inside, weights, roots, values, before, .. } = self;
        before.clear();
        before.extend(roots.iter().zip(&*values).map(|(root, x)| root * x));
        for (at, (row, value)) in offsets.windows(2).zip(values).enumerate() {
            let (mut sum, near) = (before[at], &inside[row[0]..row[1]]);
            match weights.get(row[0]..row[1]) {
                Some(weights) if !weights.is_empty() => {
                    near.iter().zip(weights).for_each(|(&j, w)| sum += w * before[j as usize]);
                }
                _ => near.iter().for_each(|&j| sum += before[j as usize]),
            }
            *value = roots[at] * sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::data::SparseRows;
    use crate::ground::random::Stream;

    fn of(edges: &[(u32, u32)], n: usize, hops: usize, fanout: Option<u32>) -> Operator {
        let graph = Arc::new(Graph::from_edges(n, edges));
        let egos = Egos { graph: &graph, messages: &Messages::from(&graph), hops, fanout, seed: 1 };
        egos.matrix(&mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap()
    }

    #[test]
    fn a_row_is_the_mean_of_two_rounds_within_the_ego_graph() {
        // Two triangles joined by an edge, a leaf and a node alone; literally, with dense matrices.
        let edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (5, 6)];
        let graph = Graph::from_edges(8, &edges);
        for hops in [1, 2, 3] {
            let operator = of(&edges, 8, hops, None);
            for v in 0..8u32 {
                let mut near = vec![v];
                for _ in 0..hops {
                    near = (0..8).filter(|&u| near.iter().any(|&w| u == w || graph.has_edge(u, w))).collect();
                }
                let m = near.len();
                let a: Vec<Vec<f64>> = near
                    .iter()
                    .map(|&u| near.iter().map(|&w| f64::from(u8::from(u == w || graph.has_edge(u, w)))).collect())
                    .collect();
                let d: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
                let p = |i: usize, j: usize| a[i][j] / (d[i] * d[j]).sqrt();
                let mean = |j: usize| {
                    let rounds = |i: usize| (0..m).map(|k| p(i, k) * p(k, j)).sum::<f64>();
                    (0..m).map(rounds).sum::<f64>() / m as f64
                };
                assert_eq!(operator.row(v), near);
                let at = operator.offsets()[v as usize];
                for j in 0..m {
                    assert!((f64::from(operator.csr().values[at + j]) - mean(j)).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn messages_of_ego_graphs_have_the_weights_of_their_edges() {
        // A path of three nodes; two rounds of `D^-1/2 (A + I) D^-1/2` around its middle, all of it, by hand.
        let graph = Arc::new(Graph::from_edges(3, &[(0, 1), (1, 2)]));
        let messages = Messages::from(&graph).weighted(vec![2.0, 2.0, 0.5, 0.5]);
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let egos = Egos { graph: &graph, messages: &messages, hops: 1, fanout: None, seed: 1 };
        let operator = egos.matrix(&mut reservation).unwrap();
        let d = [3.0f64, 3.5, 1.5];
        let a = [[1.0, 2.0, 0.0], [2.0, 1.0, 0.5], [0.0, 0.5, 1.0]];
        let p = |i: usize, j: usize| a[i][j] / (d[i] * d[j]).sqrt();
        assert_eq!(operator.row(1), [0, 1, 2]);
        let row = &operator.csr().values[operator.offsets()[1]..operator.offsets()[2]];
        for (j, found) in row.iter().enumerate() {
            let twice = |i: usize| (0..3).map(|k| p(i, k) * p(k, j)).sum::<f64>();
            assert!((f64::from(*found) - (0..3).map(twice).sum::<f64>() / 3.0).abs() < 1e-7, "{j}");
        }
    }

    #[test]
    fn large_ego_graphs_are_sampled_the_same_each_time() {
        let star: Vec<(u32, u32)> = (1..600).map(|leaf| (0, leaf)).collect();
        let (one, other) = (of(&star, 600, 2, Some(5)), of(&star, 600, 2, Some(5)));
        assert_eq!(one, other);
        assert_eq!((one.row(0).len(), one.row(7).len()), (6, 7.min(one.row(7).len())));
        assert!((1..600).all(|leaf| (6..=7).contains(&one.row(leaf).len()) && one.row(leaf).contains(&leaf)));
    }

    #[test]
    fn averaged_features_are_the_product_of_the_matrix_with_them() {
        let (n, mut stream) = (700, Stream::new(3));
        let edges: Vec<(u32, u32)> = (0..1500).map(|_| (stream.below(n) as u32, stream.below(n) as u32)).collect();
        let graph = Arc::new(Graph::from_edges(n, &edges));
        let weights = (0..graph.targets().len()).map(|at| f64::from(graph.targets()[at] % 3) + 0.5).collect();
        let dense: Vec<f32> = (0..n * 5).map(|_| stream.normal() as f32).collect();
        let offsets: Vec<usize> = (0..=n).map(|v| 2 * v).collect();
        let columns = (0..n as u32).flat_map(|v| [v % 3, 3 + v % 2]).collect();
        let sparse = SparseRows::new(5, offsets, columns, dense[..2 * n].to_vec()).unwrap();
        let mut in_rows = vec![0f32; n * 5];
        for v in 0..n {
            let (columns, values) = sparse.row(v);
            columns.iter().zip(values).for_each(|(&c, x)| in_rows[v * 5 + c as usize] = *x);
        }
        let unweighted = Messages::from(&graph);
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        for messages in [&unweighted, &unweighted.clone().weighted(weights)] {
            for (hops, fanout) in [(2, None), (3, Some(2))] {
                let egos = Egos { graph: &graph, messages, hops, fanout, seed: 1 };
                let matrix = egos.matrix(&mut reservation).unwrap();
                let given = [
                    (Features::dense(5, dense.clone()).unwrap(), &dense),
                    (Features::Sparse(sparse.clone()), &in_rows),
                ];
                for (features, x) in given {
                    let Features::Dense { values, .. } = egos.features(&features, &mut reservation).unwrap() else {
                        panic!()
                    };
                    for v in 0..n {
                        let factors = &matrix.csr().values[matrix.offsets()[v]..];
                        for c in 0..5 {
                            let terms = matrix.row(v as u32).iter().zip(factors);
                            let sum: f64 = terms.map(|(&u, f)| f64::from(*f) * f64::from(x[u as usize * 5 + c])).sum();
                            assert!((f64::from(values[v * 5 + c]) - sum).abs() < 1e-6, "{hops} {v} {c}");
                        }
                    }
                    // Features where ego graphs have more nodes than there are features.
                    let means = ego_means(&graph, messages, &features, (hops, fanout), 1, &mut reservation).unwrap();
                    assert_eq!(matches!(means, EgoMeans::Features(_)), matrix.n_entries() > 5 * n);
                }
            }
        }
    }
}
