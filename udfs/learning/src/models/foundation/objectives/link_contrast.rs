//! Contrast by links: a node is nearer to a neighbour than to nodes that it has no edge to (Liu et al. 2023, GraphPrompt, Eq. 3).

use bonnet_graph::Graph;
use candle_core::{Result, Tensor};

use super::Samples;
use crate::ground::random::{Stream, key};

/// The nodes without an edge that each node is held against, by GraphPrompt's program.
pub(in crate::models::foundation) const NEGATIVES: usize = 50;

/// `- mean over v of ln [e^{cos(x_v, y_a) / tau} / sum over b of e^{cos(x_v, y_b) / tau}]`, where both are mostly the same rows: `a` is a neighbour of `v`, drawn
/// uniformly, and `b` are 50 nodes that are neither `v` nor its neighbours, drawn with repetition; both by the key. Nodes without a
/// neighbour, or with an edge to every other, are left out; none where that is all of them. (The authors' program divides by tau
/// after the exponential, where it cancels: the same at tau = 1.)
pub(in crate::models::foundation) fn link_contrast(
    graph: &Graph,
    x: &Tensor,
    y: &Tensor,
    temperature: f64,
    draw: u64,
) -> Result<Option<Tensor>> {
    let row = |v: u32| draws(graph, v, &mut Stream::new(key(&[draw, u64::from(v)])));
    let samples = Samples::new((0..graph.n_nodes() as u32).map(row), NEGATIVES, graph.n_nodes())?;
    samples.map(|samples| samples.loss(x, y, temperature)).transpose()
}

/// A neighbour of a node, then nodes that are none.
pub(crate) fn draws(graph: &Graph, v: u32, stream: &mut Stream) -> Option<Vec<u32>> {
    let (n, neighbors) = (graph.n_nodes(), graph.neighbors(v));
    let others = n - 1 - neighbors.len();
    if neighbors.is_empty() || others == 0 {
        return None;
    }
    let mut row = vec![neighbors[stream.below(neighbors.len())]];
    // The i-th node without an edge is i and the number of those with one, v among them, that come before it.
    let mut taken: Vec<u32> = neighbors.to_vec();
    taken.insert(taken.partition_point(|&u| u < v), v);
    row.extend((0..NEGATIVES).map(|_| free(&taken, stream.below(others) as u32)));
    Some(row)
}

/// The `i`-th number, from 0, that is not among those `taken`, ascending.
fn free(taken: &[u32], i: u32) -> u32 {
    // So many of the taken stand before it: t_k - k of the free are below the k-th taken.
    let (mut low, mut high) = (0, taken.len());
    while low < high {
        let middle = (low + high) / 2;
        if taken[middle] - middle as u32 <= i { low = middle + 1 } else { high = middle }
    }
    i + low as u32
}

/// The bytes of the pairs and of what their gradient keeps.
pub(in crate::models::foundation) fn link_contrast_bytes(n: usize, width: usize) -> usize {
    n * (1 + NEGATIVES) * 40 + 5 * 4 * n * width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_numbers_are_those_that_are_not_taken() {
        let taken = [0, 2, 3, 7];
        let free: Vec<u32> = (0..5).map(|i| free(&taken, i)).collect();
        assert_eq!(free, [1, 4, 5, 6, 8]);
    }

    #[test]
    fn negatives_have_no_edge_to_their_node_and_each_is_drawn() {
        let graph = Graph::from_edges(9, &[(0, 1), (0, 4), (0, 8), (2, 3)]);
        let mut stream = Stream::new(1);
        let row = draws(&graph, 0, &mut stream).unwrap();
        assert!([1, 4, 8].contains(&row[0]));
        let mut negatives = row[1..].to_vec();
        assert_eq!(negatives.len(), NEGATIVES);
        negatives.sort_unstable();
        negatives.dedup();
        assert_eq!(negatives, [2, 3, 5, 6, 7]);
        assert_eq!(draws(&graph, 5, &mut stream), None, "no neighbour");
        let complete = Graph::from_edges(3, &[(0, 1), (0, 2), (1, 2)]);
        assert_eq!(draws(&complete, 0, &mut stream), None, "no node without an edge");
    }
}
