//! The mean share of a node's neighbours that are in its own class.

use std::collections::BTreeMap;

use bonnet_graph::{Digraph, Graph, Monitor, Stopped};

/// Why there is no node homophily.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The number of nodes to average over is too small.
    #[error(
        "node_homophily: nodes is {nodes}, but the rows have {seen} different sources: nodes must be at least that"
    )]
    TooFewNodes {
        /// The given value.
        nodes: u64,
        /// The number of different sources in the rows.
        seen: u64,
    },
}

/// For each node: the rows of which it is the source, and how many of them have two equal labels.
///
/// Nodes are numbers given by the caller, without gaps: 16 bytes for each up to the largest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeighborMatches {
    /// (equal, all) rows of each node; trailing nodes may be missing.
    of_node: Vec<(u64, u64)>,
}

impl NeighborMatches {
    /// Counts the rows with the sources `source[i]` and the labels `source_label[i]`, `target_label[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn add_batch(&mut self, source: &[u32], source_label: &[u32], target_label: &[u32]) {
        assert!(
            source.len() == source_label.len() && source.len() == target_label.len(),
            "one entry a row in each slice"
        );
        let Some(&largest) = source.iter().max() else { return };
        self.make_room_for(largest);
        for ((&node, a), b) in source.iter().zip(source_label).zip(target_label) {
            let (equal, all) = &mut self.of_node[node as usize];
            *equal += u64::from(a == b);
            *all += 1;
        }
    }

    /// Counts `all` rows from `node`, of which `equal` have two equal labels.
    ///
    /// # Panics
    /// If `equal` is above `all`.
    pub fn add(&mut self, node: u32, equal: u64, all: u64) {
        assert!(equal <= all, "{equal} of {all} rows");
        self.make_room_for(node);
        let count = &mut self.of_node[node as usize];
        *count = (count.0 + equal, count.1 + all);
    }

    fn make_room_for(&mut self, node: u32) {
        if self.of_node.len() <= node as usize {
            self.of_node.resize(node as usize + 1, (0, 0));
        }
    }

    /// Adds the counts of another part of the rows, made under the same numbers.
    pub fn merge(&mut self, other: &Self) {
        other.counts().for_each(|(node, equal, all)| self.add(node, equal, all));
    }

    /// The nodes that were the source of a row, ascending, with their equal and all rows: all there is to keep or to send.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        let seen = self.of_node.iter().enumerate().filter(|(_, count)| count.1 > 0);
        seen.map(|(node, &(equal, all))| (node as u32, equal, all))
    }

    /// The bytes that the counts hold.
    pub fn bytes(&self) -> usize {
        self.of_node.capacity() * size_of::<(u64, u64)>()
    }
}

/// The mean over nodes of the share of rows from the node whose labels are equal, in [0, 1]; `None` without rows.
/// (H_node, Eq. 2 of Luan et al., Are heterophilic GNNs and homophily metrics really effective?; Pei et al., Geom-GCN, ICLR 2020.)
///
/// The mean is over the nodes that are the source of a row; with `nodes`, over so many, of which those not seen count 0.
///
/// Shares with the same denominator are added as integers, so that the result does not depend on the numbers of the nodes.
///
/// # Errors
/// If `nodes` is below the number of nodes seen.
pub fn node_homophily(matches: &NeighborMatches, nodes: Option<u64>) -> Result<Option<f64>, Error> {
    let mut shares = Shares::default();
    matches.counts().for_each(|(_, equal, all)| shares.add(equal, all));
    let nodes = nodes.unwrap_or(shares.seen);
    if nodes < shares.seen {
        return Err(Error::TooFewNodes { nodes, seen: shares.seen });
    }
    Ok(shares.mean_over(nodes))
}

/// The node homophily of an undirected graph: the mean over the nodes with a label of the share of their labelled
/// neighbours that have the same one; a node without such neighbours counts 0. `None` if no edge has two labels. O(n + m).
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn node_homophily_of_graph(
    graph: &Graph,
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
    mean_over_labelled(|node| graph.neighbors(node), labels, monitor)
}

/// [`node_homophily_of_graph`] over the out-neighbours in a directed graph. O(n + m).
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn node_homophily_of_arcs(
    graph: &Digraph,
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
    mean_over_labelled(|node| graph.successors(node), labels, monitor)
}

fn mean_over_labelled<'a>(
    neighbors_of: impl Fn(u32) -> &'a [u32],
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    let mut shares = Shares::default();
    let (mut labelled, mut arcs_since_check) = (0, 0);
    for (node, own) in labels.iter().enumerate() {
        let Some(own) = own else { continue };
        labelled += 1;
        let neighbors = neighbors_of(node as u32);
        let (mut equal, mut all) = (0, 0);
        for label in neighbors.iter().filter_map(|&neighbor| labels[neighbor as usize]) {
            equal += u64::from(label == *own);
            all += 1;
        }
        if all > 0 {
            shares.add(equal, all);
        }
        arcs_since_check += neighbors.len() + 1;
        if arcs_since_check >= 1 << 18 {
            monitor.check()?;
            arcs_since_check = 0;
        }
    }
    Ok(shares.mean_over(labelled))
}

/// A sum of fractions that does not depend on their order: those with the same denominator are added as integers.
#[derive(Default)]
struct Shares {
    seen: u64,
    /// The sum of the numerators over each denominator.
    by_denominator: BTreeMap<u64, u128>,
}

impl Shares {
    fn add(&mut self, equal: u64, all: u64) {
        self.seen += 1;
        *self.by_denominator.entry(all).or_default() += u128::from(equal);
    }

    /// The sum over `nodes`; `None` if nothing was added.
    fn mean_over(&self, nodes: u64) -> Option<f64> {
        let sum: f64 = self.by_denominator.iter().map(|(&all, &equal)| equal as f64 / all as f64).sum();
        (self.seen > 0).then(|| sum / nodes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn counted(rows: &[(u32, u32, u32)]) -> NeighborMatches {
        let mut matches = NeighborMatches::default();
        let column = |f: fn(&(u32, u32, u32)) -> u32| rows.iter().map(f).collect::<Vec<_>>();
        matches.add_batch(&column(|r| r.0), &column(|r| r.1), &column(|r| r.2));
        matches
    }

    #[test]
    fn it_is_the_mean_of_the_shares_of_the_sources() {
        // Node 0: 2 of 3; node 4: 0 of 1; node 2: 1 of 1.
        let matches = counted(&[(0, 1, 1), (4, 0, 1), (0, 1, 0), (2, 5, 5), (0, 1, 1)]);
        assert_eq!(matches.counts().collect::<Vec<_>>(), [(0, 2, 3), (2, 1, 1), (4, 0, 1)]);
        assert_eq!(node_homophily(&matches, None), Ok(Some((2.0 / 3.0 + 1.0) / 3.0)));
        assert_eq!(node_homophily(&matches, Some(5)), Ok(Some((2.0 / 3.0 + 1.0) / 5.0)));
    }

    #[test]
    fn too_few_nodes_are_an_error_and_no_rows_have_no_value() {
        let matches = counted(&[(0, 1, 1), (1, 1, 1)]);
        let error = node_homophily(&matches, Some(1)).unwrap_err().to_string();
        assert!(error.contains("nodes is 1, but the rows have 2 different sources"), "{error}");
        assert_eq!(node_homophily(&NeighborMatches::default(), None), Ok(None));
        assert_eq!(node_homophily(&NeighborMatches::default(), Some(7)), Ok(None));
    }

    #[test]
    fn a_graph_averages_over_its_labelled_nodes() {
        // A path 0-1-2-3 and the isolated node 4. Node 0: 1 of 1; node 1: 1 of 1, as 2 has no label; 3 and 4: 0.
        let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3)]);
        let labels = [Some(9), Some(9), None, Some(9), Some(1)];
        assert_eq!(node_homophily_of_graph(&graph, &labels, &Unmonitored).unwrap(), Some(0.5));
        assert_eq!(node_homophily_of_graph(&graph, &[None; 5], &Unmonitored).unwrap(), None);
    }

    proptest! {
        #[test]
        fn any_partition_in_any_order_and_any_numbers_give_the_same(
            rows in proptest::collection::vec((0..40u32, 0..3u32, 0..3u32, 0..4usize), 1..400),
        ) {
            let plain: Vec<(u32, u32, u32)> = rows.iter().map(|&(v, a, b, _)| (v, a, b)).collect();
            let whole = counted(&plain);
            let mut merged = NeighborMatches::default();
            for part in [2, 0, 3, 1] {
                let part: Vec<_> = rows.iter().filter(|r| r.3 == part).map(|&(v, a, b, _)| (v, a, b)).collect();
                merged.merge(&counted(&part));
            }
            prop_assert_eq!(&merged, &whole);
            let value = node_homophily(&whole, None).unwrap().unwrap();
            let turned: Vec<_> = plain.iter().rev().map(|&(v, a, b)| (1000 - 7 * v, a, b)).collect();
            prop_assert_eq!(node_homophily(&counted(&turned), None), Ok(Some(value)));

            let shares: Vec<f64> = (0..40)
                .filter_map(|node| {
                    let mine: Vec<_> = plain.iter().filter(|r| r.0 == node).collect();
                    let equal = mine.iter().filter(|r| r.1 == r.2).count();
                    (!mine.is_empty()).then(|| equal as f64 / mine.len() as f64)
                })
                .collect();
            prop_assert!((value - shares.iter().sum::<f64>() / shares.len() as f64).abs() < 1e-12);
        }
    }
}
