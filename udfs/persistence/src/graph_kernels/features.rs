//! Graphs as counts of features, and which graphs have a feature.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::gram::PairValues;
use crate::colors::{GraphSet, Refinement};

/// How often each graph has each feature.
pub(super) struct Features {
    /// The features of each graph in ascending order, with their counts.
    pub(super) of_graph: Vec<Vec<(u32, u32)>>,
    /// The number of features.
    pub(super) n_features: usize,
}

impl Features {
    /// The colours of all nodes before and after each of `rounds` rounds of colour refinement: a colour of another round is another
    /// feature.
    pub(super) fn of_colors(set: &GraphSet, rounds: usize, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        let (n, m) = (set.union().n_nodes(), set.union().n_edges());
        let _held = Reservation::new(monitor, Refinement::bytes(n, m) + 4 * n)?;
        let mut of_graph = vec![Vec::new(); set.len()];
        let mut n_features = 0;
        let mut refinement = Refinement::new(set.union(), crate::colors::first_labels(set));
        let mut own = Vec::new();
        for round in 0..=rounds {
            monitor.check()?;
            for (i, features) in of_graph.iter_mut().enumerate() {
                own.clear();
                own.extend_from_slice(&refinement.colors()[set.nodes(i)]);
                own.sort_unstable();
                let counted = own.chunk_by(|a, b| a == b);
                features.extend(counted.map(|same| (n_features as u32 + same[0], same.len() as u32)));
            }
            n_features += refinement.n_colors();
            if round < rounds {
                refinement.step(monitor)?;
            }
        }
        Ok(Self { of_graph, n_features })
    }

    /// For each pair of graphs the sum over their common features of `term` of the two counts and the two graphs.
    pub(super) fn sums(
        &self,
        term: impl Fn((u64, usize), (u64, usize)) -> u128 + Send + Sync,
        value: impl Fn(u128, usize, usize) -> f64 + Send + Sync,
        monitor: &dyn Monitor,
    ) -> Result<PairValues, Stopped> {
        let n = self.of_graph.len();
        let entries: usize = self.of_graph.iter().map(Vec::len).sum();
        let _held = Reservation::new(monitor, 16 * self.n_features + 8 * entries + PairValues::bytes(n))?;
        // The graphs that have each feature, in their order.
        let mut starts = vec![0usize; self.n_features + 1];
        self.of_graph.iter().flatten().for_each(|&(feature, _)| starts[feature as usize + 1] += 1);
        (0..self.n_features).for_each(|feature| starts[feature + 1] += starts[feature]);
        let mut next = starts.clone();
        let mut graphs = vec![(0u32, 0u32); entries];
        for (features, graph) in self.of_graph.iter().zip(0u32..) {
            for &(feature, count) in features {
                let at = &mut next[feature as usize];
                graphs[*at] = (graph, count);
                *at += 1;
            }
        }
        drop(next);
        PairValues::by_rows(
            n,
            monitor,
            || vec![0u128; n],
            |sums, i| {
                sums[..=i].fill(0);
                for &(feature, count) in &self.of_graph[i] {
                    let having = &graphs[starts[feature as usize]..starts[feature as usize + 1]];
                    for &(j, other) in having.iter().take_while(|(j, _)| *j as usize <= i) {
                        sums[j as usize] += term((u64::from(count), i), (u64::from(other), j as usize));
                    }
                }
                Ok((0..=i).map(|j| value(sums[j], i, j)).collect())
            },
        )
    }

    /// The inner products of the counts.
    pub(super) fn inner_products(&self, monitor: &dyn Monitor) -> Result<PairValues, Stopped> {
        self.sums(|(a, _), (b, _)| u128::from(a) * u128::from(b), |sum, _, _| sum as f64, monitor)
    }
}
