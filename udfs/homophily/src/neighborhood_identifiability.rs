//! Neighbourhood identifiability: the entropy of the neighbourhoods of a class.

use bonnet_graph::{Digraph, Monitor, Reservation, Stopped};
use faer::Mat;

use crate::dense::singular_values;

/// sum over classes k of n_k / N times the entropy, over log C, of the singular values (scaled to sum 1) of the matrix
/// whose rows are the label distributions of the neighbours of the nodes of class k: in [0, 1], small where few patterns
/// describe the neighbourhoods. (H_neighbor, Eq. 9 of Luan et al., Are heterophilic GNNs and homophily metrics really
/// effective?; Chen et al., Exploiting neighbor effect, TNNLS 2023. The paper's figures show 1 - H_neighbor.)
///
/// Nodes without a label take no part. A node without labelled neighbours has a row of zeros, a matrix of zeros the
/// entropy 0, and 0 log 0 = 0. `None` with fewer than two classes. O(m + N C^2) time, 16 n_k C bytes for the largest class.
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn neighborhood_identifiability(
    graph: &Digraph,
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
    let n_labels = labels.iter().flatten().max().map_or(0, |&label| label as usize + 1);
    let mut nodes_of: Vec<Vec<u32>> = vec![Vec::new(); n_labels];
    for (node, label) in (0..).zip(labels) {
        if let Some(label) = label {
            nodes_of[*label as usize].push(node);
        }
    }
    // Classes that no node has make no column.
    let mut column = vec![0usize; n_labels];
    let mut n_classes = 0;
    for (label, nodes) in nodes_of.iter().enumerate() {
        column[label] = n_classes;
        n_classes += usize::from(!nodes.is_empty());
    }
    if n_classes < 2 {
        return Ok(None);
    }
    let n: usize = nodes_of.iter().map(Vec::len).sum();
    monitor.expect(n as u64);
    let mut sum = 0.0;
    for nodes in nodes_of.iter().filter(|nodes| !nodes.is_empty()) {
        let _reservation = Reservation::new(monitor, nodes.len().saturating_mul(n_classes).saturating_mul(16))?;
        let mut distributions: Mat<f64> = Mat::zeros(nodes.len(), n_classes);
        for (row, &node) in nodes.iter().enumerate() {
            let neighbors = || graph.successors(node).iter().filter_map(|&neighbor| labels[neighbor as usize]);
            let share = 1.0 / neighbors().count() as f64;
            neighbors().for_each(|label| distributions[(row, column[label as usize])] += share);
        }
        monitor.check()?;
        let values = singular_values(distributions.as_ref());
        let total: f64 = values.iter().sum();
        let entropy: f64 = values
            .iter()
            .map(|value| value / total)
            .filter(|share| *share > 0.0)
            .map(|share| -share * share.ln())
            .sum();
        sum += nodes.len() as f64 / n as f64 * (entropy / (n_classes as f64).ln());
        monitor.advance(nodes.len() as u64);
    }
    Ok(Some(sum.clamp(0.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn undirected(n: usize, edges: &[(u32, u32)]) -> Digraph {
        let both: Vec<(u32, u32)> = edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
        Digraph::from_arcs(n, &both)
    }

    #[test]
    fn one_pattern_a_class_gives_zero() {
        let graph = undirected(6, &[(0, 1), (2, 3), (4, 5)]);
        let labels = [Some(0), Some(1), Some(0), Some(1), Some(2), Some(2)];
        let found = neighborhood_identifiability(&graph, &labels, &Unmonitored).unwrap().unwrap();
        assert!(found.abs() < 1e-14, "{found}");
    }

    #[test]
    fn two_patterns_worked_by_hand() {
        // Class 0: nodes 0 and 1, whose neighbours are one of class 0 (each other), and of class 1 for two more nodes:
        // rows (1, 0), (1, 0), (0, 1), (0, 1): singular values sqrt 2, sqrt 2, entropy ln 2. Class 1 (two nodes, whose
        // neighbours are of class 0): one pattern, 0. So 4/6 of ln 2 / ln 2.
        let graph = undirected(6, &[(0, 1), (2, 4), (3, 5)]);
        let labels = [Some(0), Some(0), Some(0), Some(0), Some(7), Some(7)];
        let found = neighborhood_identifiability(&graph, &labels, &Unmonitored).unwrap().unwrap();
        assert!((found - 4.0 / 6.0).abs() < 1e-14, "{found}");
    }

    #[test]
    fn isolated_nodes_are_rows_of_zeros_and_one_class_has_no_value() {
        let graph = undirected(5, &[(0, 1)]);
        let labels = [Some(0), Some(1), Some(0), None, Some(2)];
        let found = neighborhood_identifiability(&graph, &labels, &Unmonitored).unwrap().unwrap();
        assert!(found.abs() < 1e-14, "{found}");
        assert_eq!(neighborhood_identifiability(&graph, &[Some(1); 5], &Unmonitored).unwrap(), None);
        assert_eq!(neighborhood_identifiability(&graph, &[None; 5], &Unmonitored).unwrap(), None);
    }
}
