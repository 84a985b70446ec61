//! Communities by the propagation of labels.

use bonnet_graph::{Monitor, Reservation, Steps, Stopped, by_size};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use super::random_order;
use crate::Network;

/// Nodes that a thread takes at a time, and between two looks at the monitor.
const BLOCK: usize = 1 << 10;

/// The order of the updates of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelPropagation {
    /// Node by node in a random order of this seed, until each has a label that no other is more frequent than among its
    /// neighbours (Raghavan, Albert and Kumara 2007); a node keeps such a label, and else takes the smallest of the most
    /// frequent ones.
    Asynchronous {
        /// Seed of the order.
        seed: u64,
    },
    /// All nodes at once, so many times: each takes the smallest of the most frequent labels of its neighbours, both endpoints of
    /// an arc and each arc counted (LDBC Graphalytics 1.0, Sec. 2.3.4, CDLP).
    Synchronous {
        /// The number of rounds.
        iterations: usize,
    },
}

/// The community of every node, numbered by falling size: nodes that come to the same label, where at first each has one of its own and
/// then takes the one that is most frequent among its neighbours.
///
/// O(m) for each sweep over the nodes, usually some five; 12 n bytes, and 8 n for each thread where it is synchronous.
///
/// # Errors
/// If the monitor stops it.
pub fn label_propagation_communities(
    network: Network<'_>,
    how: LabelPropagation,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, Stopped> {
    let n = network.n_nodes();
    let mut label: Vec<u32> = (0..n as u32).collect();
    match how {
        LabelPropagation::Asynchronous { seed } => {
            let _reservation = Reservation::new(monitor, 12 * n)?;
            let order = random_order(n, &mut ChaCha8Rng::seed_from_u64(seed));
            let mut counts = Counts::new(n);
            // A move raises the number of edges whose endpoints agree, so moves come to an end.
            let mut moved = true;
            while moved {
                moved = false;
                let mut steps = Steps::new(monitor, n);
                for (i, &v) in order.iter().enumerate() {
                    if i.is_multiple_of(BLOCK) {
                        monitor.check()?;
                        steps.reach(i);
                    }
                    let own = label[v as usize];
                    let (best, most) = counts.most_frequent(network, v, &label);
                    if most > counts.of_own {
                        moved |= best != own;
                        label[v as usize] = best;
                    }
                }
            }
        }
        LabelPropagation::Synchronous { iterations } => {
            let threads = rayon::current_num_threads();
            let _reservation = Reservation::new(monitor, 8 * n + 8 * n * threads)?;
            let mut next = label.clone();
            let mut steps = Steps::new(monitor, iterations);
            for _ in 0..iterations {
                let block = |counts: &mut Counts, (block, next): (usize, &mut [u32])| -> Result<(), Stopped> {
                    monitor.check()?;
                    for (i, next) in next.iter_mut().enumerate() {
                        let v = block * BLOCK + i;
                        *next = match counts.most_frequent(network, v as u32, &label) {
                            (_, 0) => label[v],
                            (best, _) => best,
                        };
                    }
                    Ok(())
                };
                let blocks = next.par_chunks_mut(BLOCK).enumerate();
                blocks.map_init(|| Counts::new(n), |counts, part| block(counts, part)).collect::<Result<(), _>>()?;
                if next == label {
                    break;
                }
                std::mem::swap(&mut label, &mut next);
                steps.advance(1);
            }
        }
    }
    Ok(by_size(&label))
}

/// The counts of the labels among the neighbours of a node.
struct Counts {
    count: Vec<u32>,
    found: Vec<u32>,
    /// The count of the node's own label.
    of_own: u32,
}

impl Counts {
    fn new(n: usize) -> Self {
        Self { count: vec![0; n], found: Vec::new(), of_own: 0 }
    }

    /// The smallest of the most frequent labels of the neighbours of `v`, and how often it occurs.
    fn most_frequent(&mut self, network: Network<'_>, v: u32, label: &[u32]) -> (u32, u32) {
        let into = if network.directed { network.into.of(v) } else { &[] };
        for &u in network.out.of(v).iter().chain(into) {
            let label = label[u as usize];
            if self.count[label as usize] == 0 {
                self.found.push(label);
            }
            self.count[label as usize] += 1;
        }
        self.of_own = self.count[label[v as usize] as usize];
        let mut best = (u32::MAX, 0);
        for label in self.found.drain(..) {
            let count = std::mem::take(&mut self.count[label as usize]);
            if count > best.1 || (count == best.1 && label < best.0) {
                best = (label, count);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::{Graph, Unmonitored};

    #[test]
    fn each_label_is_among_the_most_frequent_of_the_neighbours() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let how = LabelPropagation::Asynchronous { seed };
            let found = label_propagation_communities(Network::undirected(&graph), how, &Unmonitored).unwrap();
            for v in 0..n as u32 {
                let count = |label: u32| graph.neighbors(v).iter().filter(|&&u| found[u as usize] == label).count();
                let most = found.iter().map(|&label| count(label)).max().unwrap();
                assert_eq!(count(found[v as usize]), most, "node {v} of graph {seed}");
            }
        }
    }

    /// The definition, with sorted lists of labels.
    fn synchronous(network: Network<'_>, iterations: usize) -> Vec<u32> {
        let n = network.n_nodes();
        let mut label: Vec<u32> = (0..n as u32).collect();
        for _ in 0..iterations {
            let next = |v: u32| {
                let into = if network.directed { network.into.of(v) } else { &[] };
                let mut labels: Vec<u32> = network.out.of(v).iter().chain(into).map(|&u| label[u as usize]).collect();
                labels.sort_unstable();
                let count = |label: &u32| labels.iter().filter(|other| *other == label).count();
                labels.iter().rev().max_by_key(|label| count(label)).copied().unwrap_or(label[v as usize])
            };
            label = (0..n as u32).map(next).collect();
        }
        by_size(&label)
    }

    #[test]
    fn all_at_once_as_graphalytics_has_it() {
        testing::each_network(0..200, |seed, network| {
            for iterations in [0, 1, 2, 7] {
                let how = LabelPropagation::Synchronous { iterations };
                let found = label_propagation_communities(network, how, &Unmonitored).unwrap();
                assert_eq!(found, synchronous(network, iterations), "graph {seed}");
            }
        });
    }
}
