//! Class homophily: what each class keeps of its arcs beyond its share of the nodes.

use bonnet_graph::{Digraph, Monitor, Stopped};

/// Nodes between two looks at the monitor.
const BLOCK: usize = 1 << 14;

/// (1 / (C - 1)) sum over classes k of max(0, h_k - n_k / N), in [0, 1], where h_k is the share of the arcs out of class
/// k that stay in it, n_k its nodes and N all nodes with a label. (H_class, Eq. 7 of Luan et al., Are heterophilic GNNs
/// and homophily metrics really effective?; Lim et al., Large scale learning on non-homophilous graphs, NeurIPS 2021.)
///
/// Nodes without a label take no part, nor do their arcs. A class without arcs has h_k = 0. `None` if there is no arc
/// between labelled nodes, or one class only. O(n + m + C) time, O(C) memory.
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn class_homophily(graph: &Digraph, labels: &[Option<u32>], monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
    let n_labels = labels.iter().flatten().max().map_or(0, |&label| label as usize + 1);
    // Nodes, arcs out of the class, and those of them that stay.
    let mut classes = vec![(0u64, 0u64, 0u64); n_labels];
    for (node, own) in labels.iter().enumerate() {
        if node % BLOCK == 0 {
            monitor.check()?;
        }
        let Some(own) = *own else { continue };
        let class = &mut classes[own as usize];
        class.0 += 1;
        for label in graph.successors(node as u32).iter().filter_map(|&neighbor| labels[neighbor as usize]) {
            class.1 += 1;
            class.2 += u64::from(label == own);
        }
    }
    let nodes: u64 = classes.iter().map(|class| class.0).sum();
    let present = classes.iter().filter(|class| class.0 > 0).count();
    if present < 2 || classes.iter().all(|class| class.1 == 0) {
        return Ok(None);
    }
    let mut gains: Vec<f64> = classes
        .iter()
        .filter(|class| class.1 > 0)
        .map(|&(own, arcs, within)| (within as f64 / arcs as f64 - own as f64 / nodes as f64).max(0.0))
        .collect();
    // Added by size, so that the result does not depend on the numbers of the classes.
    gains.sort_unstable_by(f64::total_cmp);
    Ok(Some(gains.iter().sum::<f64>() / (present - 1) as f64))
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
    fn a_graph_worked_by_hand() {
        // Path 0-1-2-3 with labels a a b b: both classes keep 2 of 3 arcs, and have half of the nodes:
        // 2 (2/3 - 1/2) / 1 = 1/3.
        let graph = undirected(4, &[(0, 1), (1, 2), (2, 3)]);
        let found = class_homophily(&graph, &[Some(0), Some(0), Some(5), Some(5)], &Unmonitored).unwrap().unwrap();
        assert!((found - 1.0 / 3.0).abs() < 1e-15, "{found}");
    }

    #[test]
    fn separate_classes_give_one_and_crossing_ones_zero() {
        let graph = undirected(6, &[(0, 1), (2, 3), (4, 5)]);
        let pairs = [Some(0), Some(0), Some(1), Some(1), Some(2), Some(2)];
        assert_eq!(class_homophily(&graph, &pairs, &Unmonitored).unwrap(), Some(1.0));
        let crossing = [Some(0), Some(1), Some(0), Some(1), Some(0), Some(1)];
        assert_eq!(class_homophily(&graph, &crossing, &Unmonitored).unwrap(), Some(0.0));
    }

    #[test]
    fn one_class_no_arcs_or_no_labels_have_no_value() {
        let graph = undirected(3, &[(0, 1)]);
        assert_eq!(class_homophily(&graph, &[Some(0); 3], &Unmonitored).unwrap(), None);
        assert_eq!(class_homophily(&graph, &[None; 3], &Unmonitored).unwrap(), None);
        assert_eq!(class_homophily(&graph, &[Some(0), None, Some(1)], &Unmonitored).unwrap(), None);
        assert_eq!(class_homophily(&undirected(0, &[]), &[], &Unmonitored).unwrap(), None);
    }

    #[test]
    fn only_arcs_as_given_count() {
        // Arcs out of class 0: 0 -> 1 (same), 0 -> 2 (other); out of class 1: none. (1/2 - 2/3)+ = 0.
        let graph = Digraph::from_arcs(3, &[(0, 1), (0, 2)]);
        let labels = [Some(0), Some(0), Some(1)];
        assert_eq!(class_homophily(&graph, &labels, &Unmonitored).unwrap(), Some(0.0));
        // Turned round: class 0 keeps its one arc, 1 - 2/3; class 1 none of its one.
        let found = class_homophily(&graph.reversed(), &labels, &Unmonitored).unwrap().unwrap();
        assert!((found - 1.0 / 3.0).abs() < 1e-15, "{found}");
    }
}
