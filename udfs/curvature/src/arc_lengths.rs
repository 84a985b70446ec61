//! Lengths of edges along adjacency lists.

use bonnet_graph::Graph;

/// Values of edges, in the order of [`Graph::edges`], in that of [`Graph::targets`]: 8 bytes an arc and a node.
pub(crate) fn of_arcs(graph: &Graph, values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut next: Vec<usize> = graph.offsets()[..graph.n_nodes()].to_vec();
    let mut found = vec![0.0; graph.targets().len()];
    // In this order of edges every list is met from its front: first the smaller neighbours, then the larger.
    for ((u, v), value) in graph.edges().zip(values) {
        for end in [u, v] {
            found[next[end as usize]] = value;
            next[end as usize] += 1;
        }
    }
    found
}
