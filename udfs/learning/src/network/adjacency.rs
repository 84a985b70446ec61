//! The adjacency matrix as features.

use bonnet_graph::Graph;

use super::messages::Messages;
use crate::data::{Features, SparseRows};

/// The adjacency matrix as features: a column a node, the weights of edges where these have some. The caller reserves
/// [`adjacency_bytes`].
pub(crate) fn adjacency(graph: &Messages) -> Features {
    let (offsets, columns) = (graph.offsets().to_vec(), graph.targets().to_vec());
    Features::Sparse(SparseRows::from_sorted(graph.n_nodes(), offsets, columns, graph.values()))
}

/// The bytes of [`adjacency`].
pub(crate) fn adjacency_bytes(graph: &Graph) -> usize {
    size_of_val(graph.offsets()) + 2 * size_of_val(graph.targets())
}
