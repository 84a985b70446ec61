//! The share of edges within a class.

use bonnet_graph::{Graph, Monitor, Stopped};

use crate::LabelPairs;

/// The share of rows whose two labels are equal, in [0, 1]; `None` without rows. (H_edge, Eq. 2 of Luan et al., Are
/// heterophilic GNNs and homophily metrics really effective?; Zhu et al., Beyond homophily, NeurIPS 2020.)
pub fn edge_homophily(pairs: &LabelPairs) -> Option<f64> {
    let equal: u64 = pairs.counts().iter().filter(|(a, b, _)| a == b).map(|(_, _, count)| count).sum();
    (pairs.n_rows() > 0).then(|| equal as f64 / pairs.n_rows() as f64)
}

/// [`edge_homophily`] over the edges of an undirected graph whose endpoints both have a label. O(n + m).
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn edge_homophily_of_graph(
    graph: &Graph,
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    Ok(edge_homophily(&LabelPairs::of_graph(graph, labels, monitor)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn it_is_the_share_of_equal_rows() {
        let mut pairs = LabelPairs::default();
        pairs.add_batch(&[0, 1, 2, 0, 100_000, 5], &[0, 2, 2, 1, 100_000, 6]);
        assert_eq!(edge_homophily(&pairs), Some(0.5));
    }

    #[test]
    fn no_rows_have_no_value_and_one_class_is_all_within() {
        assert_eq!(edge_homophily(&LabelPairs::default()), None);
        let mut pairs = LabelPairs::default();
        pairs.add(3, 3, 7);
        assert_eq!(edge_homophily(&pairs), Some(1.0));
    }

    #[test]
    fn a_graph_counts_its_labelled_edges() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
        let labels = [Some(1), Some(1), Some(2), None];
        assert_eq!(edge_homophily_of_graph(&graph, &labels, &Unmonitored).unwrap(), Some(1.0 / 3.0));
    }
}
