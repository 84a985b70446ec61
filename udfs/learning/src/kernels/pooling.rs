//! From the vectors of nodes to one vector a graph, and back.

use bonnet_graph::{Monitor, Stopped};

use super::parallel::for_each_block;
use super::rows::RowSet;
use crate::options::Pooling;

/// The factor of a node's vector in a graph of `nodes` nodes.
fn share(pooling: Pooling, nodes: usize) -> f32 {
    match pooling {
        Pooling::Mean => 1.0 / nodes.max(1) as f32,
        Pooling::Sum => 1.0,
    }
}

/// The pooled vectors of the graphs of a set: graph `g` has the nodes `starts[g]..starts[g + 1]`; `x` is nodes x `stride`,
/// `out` graphs x `stride`. A graph without nodes gets zeros. O(nodes * stride).
pub fn pool(
    pooling: Pooling,
    graphs: &RowSet,
    starts: &[u32],
    x: &[f32],
    stride: usize,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_block(graphs, out, stride, monitor, |rows, first, chunk| {
        for &graph in rows {
            let out = &mut chunk[(graph as usize - first) * stride..][..stride];
            let nodes = starts[graph as usize] as usize..starts[graph as usize + 1] as usize;
            out.fill(0.0);
            for node in nodes.clone() {
                out.iter_mut().zip(&x[node * stride..]).for_each(|(sum, x)| *sum += x);
            }
            let share = share(pooling, nodes.len());
            out.iter_mut().for_each(|sum| *sum *= share);
        }
    })
}

/// The gradient of [`pool`] by the vectors of the nodes of a set; `graph_of` is the graph of each node.
#[expect(clippy::too_many_arguments, reason = "the vectors of nodes and graphs with their sizes")]
pub fn unpool(
    pooling: Pooling,
    nodes: &RowSet,
    graph_of: &[u32],
    starts: &[u32],
    gradient: &[f32],
    stride: usize,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_block(nodes, out, stride, monitor, |rows, first, chunk| {
        for &node in rows {
            let graph = graph_of[node as usize] as usize;
            let share = share(pooling, (starts[graph + 1] - starts[graph]) as usize);
            let out = &mut chunk[(node as usize - first) * stride..][..stride];
            out.iter_mut().zip(&gradient[graph * stride..]).for_each(|(out, g)| *out = g * share);
        }
    })
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    #[test]
    fn means_and_sums_over_graphs_have_transposed_gradients() {
        // Graphs of 3, 0 and 2 nodes.
        let (starts, graph_of) = ([0, 3, 3, 5], [0, 0, 0, 2, 2]);
        let x: Vec<f32> = (0..40).map(|i| i as f32).collect();
        for (pooling, expected) in [(Pooling::Sum, [24.0, 0.0, 56.0]), (Pooling::Mean, [8.0, 0.0, 28.0])] {
            let mut out = vec![f32::NAN; 24];
            pool(pooling, &RowSet::all(3), &starts, &x, 8, &mut out, &Unmonitored).unwrap();
            assert_eq!([out[0], out[8], out[16]], expected);
            // <pool(x), g> = <x, unpool(g)>.
            let g: Vec<f32> = (0..24).map(|i| (i * i % 7) as f32).collect();
            let mut back = vec![f32::NAN; 40];
            unpool(pooling, &RowSet::all(5), &graph_of, &starts, &g, 8, &mut back, &Unmonitored).unwrap();
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            assert!((dot(&out, &g) - dot(&x, &back)).abs() < 1e-3, "{pooling}");
        }
    }
}
