//! Means over the ego graph of each node after a small convolution.

use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::messages::Messages;
use super::operator::Operator;
use crate::random::key;
use crate::sample::Sampler;

/// Separates the draw of ego graphs from other uses of the seed.
const EGO: u64 = 15;

/// Nodes whose ego graphs a task takes one after the other.
const BLOCK: usize = 256;

/// The mean over the nodes of each node's ego graph of two rounds of `D^-1/2 (A + I) D^-1/2` within that graph, as one matrix:
/// row v is `1/n 1' P_v^2` for the nodes within `hops` edges of v and the edges between them. Where a node has more than
/// `fanout` neighbours, `fanout` of them are drawn from the seed, for each node v independently. Messages have the weights of
/// the edges, which are none below 0, and are those of the graph.
///
/// The convolution has no activation between its rounds, so that this row is all of it: no graph is built in training.
/// O(sum of the degrees in all ego graphs * log) time, 8 bytes for each of their nodes.
///
/// # Errors
/// If the host refuses the room, or wants no answer any more.
pub fn ego_means(
    graph: &Arc<Graph>,
    messages: &Messages,
    (hops, fanout): (usize, Option<u32>),
    seed: u64,
    reservation: &mut Reservation<'_>,
) -> Result<Operator, Stopped> {
    let (n, monitor) = (graph.n_nodes(), reservation.monitor());
    let fanout = vec![fanout.unwrap_or(u32::MAX); hops];
    let nodes: Vec<u32> = (0..n as u32).collect();
    let blocks: Vec<Vec<Row>> = nodes
        .par_chunks(BLOCK)
        .map(|nodes| {
            let mut held = Reservation::new(monitor, 0)?;
            let mut sampler = Sampler::new(graph, &mut held)?;
            nodes.iter().map(|&v| row(messages, &mut sampler, v, &fanout, seed, monitor)).collect()
        })
        .collect::<Result<_, Stopped>>()?;
    let entries: usize = blocks.iter().flatten().map(|row| row.nodes.len()).sum();
    reservation.grow(Operator::matrix_bytes(n, entries))?;
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::with_capacity(entries), Vec::with_capacity(entries));
    for row in blocks.into_iter().flatten() {
        columns.extend(row.nodes);
        values.extend(row.values);
        offsets.push(columns.len());
    }
    Ok(Operator::from_rows(offsets, columns, values, false))
}

/// A row of the matrix.
struct Row {
    nodes: Vec<u32>,
    values: Vec<f32>,
}

fn row(
    graph: &Messages,
    sampler: &mut Sampler<'_>,
    v: u32,
    fanout: &[u32],
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Row, Stopped> {
    let mut held = Reservation::new(monitor, 0)?;
    let nodes = sampler.sample(&[v], fanout, key(&[seed, EGO, u64::from(v)]), &mut held)?.nodes;
    let place = |u: u32| nodes.binary_search(&u).ok();
    let inside = |u: u32| -> Vec<(usize, f64)> {
        let mut weights = graph.weights(u).into_iter().flatten();
        let entries = graph.neighbors(u).iter().map(|&w| (w, weights.next().copied().unwrap_or(1.0)));
        entries.filter_map(|(w, weight)| Some((place(w)?, weight))).collect()
    };
    let inside: Vec<Vec<(usize, f64)>> = nodes.iter().map(|&u| inside(u)).collect();
    let strength = |row: &Vec<(usize, f64)>| row.iter().map(|entry| entry.1).sum::<f64>();
    let roots: Vec<f64> = inside.iter().map(|row| 1.0 / (strength(row) + 1.0).sqrt()).collect();
    let round = |x: &[f64]| -> Vec<f64> {
        let of = |i: usize| roots[i] * inside[i].iter().fold(roots[i] * x[i], |sum, &(j, w)| sum + w * roots[j] * x[j]);
        (0..nodes.len()).map(of).collect()
    };
    // The matrix is symmetric: 1' P^2 = (P (P 1))'.
    let values = round(&round(&vec![1.0; nodes.len()]));
    let size = nodes.len() as f64;
    Ok(Row { values: values.into_iter().map(|value| (value / size) as f32).collect(), nodes })
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    fn of(edges: &[(u32, u32)], n: usize, hops: usize, fanout: Option<u32>) -> Operator {
        let graph = Arc::new(Graph::from_edges(n, edges));
        ego_means(&graph, &Messages::from(&graph), (hops, fanout), 1, &mut Reservation::new(&Unmonitored, 0).unwrap())
            .unwrap()
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
        let operator = ego_means(&graph, &messages, (1, None), 1, &mut reservation).unwrap();
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
}
