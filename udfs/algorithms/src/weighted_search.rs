//! Searches along weighted arcs that count shortest paths.

use std::collections::BinaryHeap;

use bonnet_graph::{Monitor, Stopped};

use crate::waiting::Waiting;
use crate::{AlgorithmError, Network};

/// Nodes between two questions to the monitor.
const CHECK_EVERY: usize = 1024;

/// Where a node stands in the order of a search that has not taken it.
const LAST: u32 = u32::MAX;

/// Dijkstra's search from one node, with the number of the shortest paths to each: of equal sums of lengths as they are
/// computed, from the source on.
pub(crate) struct WeightedSearch<'a> {
    network: Network<'a>,
    /// Infinite where no path leads.
    pub(crate) distance: Vec<f64>,
    /// The number of shortest paths.
    pub(crate) paths: Vec<f64>,
    /// The nodes that paths lead to, by rising distance.
    pub(crate) order: Vec<u32>,
    /// The position of each node in `order`.
    place: Vec<u32>,
    heap: BinaryHeap<Waiting>,
}

impl<'a> WeightedSearch<'a> {
    /// The bytes of a search: its heap may hold every arc.
    pub(crate) fn bytes(network: Network<'_>) -> usize {
        32 * network.n_nodes() + 16 * network.out.n_arcs()
    }

    pub(crate) fn new(network: Network<'a>) -> Self {
        let n = network.n_nodes();
        Self {
            network,
            distance: vec![f64::INFINITY; n],
            paths: vec![0.0; n],
            order: Vec::with_capacity(n),
            place: vec![LAST; n],
            heap: BinaryHeap::new(),
        }
    }

    /// Searches along the arcs from `source`.
    pub(crate) fn run(&mut self, source: u32, monitor: &dyn Monitor) -> Result<(), Stopped> {
        for v in self.order.drain(..) {
            self.distance[v as usize] = f64::INFINITY;
            self.place[v as usize] = LAST;
        }
        self.distance[source as usize] = 0.0;
        self.paths[source as usize] = 1.0;
        self.heap.push(Waiting { distance: 0.0, node: source });
        while let Some(Waiting { distance, node: v }) = self.heap.pop() {
            if self.place[v as usize] != LAST {
                continue;
            }
            if self.order.len().is_multiple_of(CHECK_EVERY)
                && let Err(reason) = monitor.check()
            {
                self.heap.clear();
                return Err(reason);
            }
            self.place[v as usize] = self.order.len() as u32;
            self.order.push(v);
            let paths = self.paths[v as usize];
            for (w, length) in self.network.out.weighted(v) {
                let (through, w) = (distance + length, w as usize);
                if self.place[w] != LAST {
                    continue;
                }
                if through < self.distance[w] {
                    self.distance[w] = through;
                    self.paths[w] = paths;
                    self.heap.push(Waiting { distance: through, node: w as u32 });
                } else if through == self.distance[w] {
                    self.paths[w] += paths;
                }
            }
        }
        Ok(())
    }

    /// Whether a shortest path of the last search leads over an arc of this length.
    pub(crate) fn leads_over(&self, u: u32, v: u32, length: f64) -> bool {
        let (u, v) = (u as usize, v as usize);
        self.place[u] < self.place[v] && self.distance[u] + length == self.distance[v]
    }
}

/// Fails unless all lengths are positive: along lengths of 0 there is no number of shortest paths.
pub(crate) fn require_positive(network: Network<'_>) -> Result<(), AlgorithmError> {
    let Some(weights) = network.out.weights() else { return Ok(()) };
    let Some(at) = weights.iter().position(|&weight| weight <= 0.0) else { return Ok(()) };
    let source = network.out.offsets().partition_point(|&start| start <= at) - 1;
    Err(AlgorithmError::nodes(
        format!("the weight {} is no length: a length is a positive number. The edge", weights[at]),
        vec![source as u32, network.out.targets()[at]],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};
    use crate::{
        BetweennessOptions, WeightedArcs, betweenness_centrality, closeness_centrality, edge_betweenness,
        harmonic_centrality,
    };
    use bonnet_graph::Unmonitored;

    const NODES: u32 = 7;

    /// All paths from the last node of `path` to others without a node twice, with their lengths.
    fn walk(network: Network<'_>, path: &mut Vec<u32>, length: f64, found: &mut Vec<(Vec<u32>, f64)>) {
        found.push((path.clone(), length));
        for (v, weight) in network.out.weighted(path[path.len() - 1]) {
            if !path.contains(&v) {
                path.push(v);
                walk(network, path, length + weight, found);
                path.pop();
            }
        }
    }

    #[test]
    fn centralities_along_weights_are_those_of_all_paths() {
        for seed in 0..90 {
            let (_, rows) = testing::rows(seed);
            // In quarters, so that sums are exact and some are equal.
            let rows = rows.iter().map(|(u, v)| (u % NODES, v % NODES));
            let rows = rows.map(|(u, v)| (u, v, f64::from(1 + (u * v + u + v) % 4) / 4.0));
            let arcs = WeightedArcs::new(NODES as usize, rows.clone()).unwrap();
            let both = rows.flat_map(|(u, v, weight)| [(u, v, weight), (v, u, weight)]);
            let edges = WeightedArcs::new(NODES as usize, both).unwrap();
            let into = arcs.reversed();
            for network in [Network::weighted(&arcs, Some(&into)), Network::weighted(&edges, None)] {
                let n = NODES as usize;
                let half = if network.directed { 1.0 } else { 0.5 };
                let (mut between, mut over) = (vec![0.0; n], vec![0.0; network.out.n_arcs()]);
                let (mut count, mut sum, mut harmonic) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                for s in 0..NODES {
                    let mut paths = Vec::new();
                    walk(network, &mut vec![s], 0.0, &mut paths);
                    for t in (0..NODES).filter(|&t| t != s) {
                        let to_t = || paths.iter().filter(|(path, _)| path[path.len() - 1] == t);
                        let shortest = to_t().map(|path| path.1).fold(f64::INFINITY, f64::min);
                        let all: Vec<&Vec<u32>> =
                            to_t().filter(|path| path.1 == shortest).map(|path| &path.0).collect();
                        if all.is_empty() {
                            continue;
                        }
                        count[t as usize] += 1.0;
                        sum[t as usize] += shortest;
                        harmonic[t as usize] += 1.0 / shortest;
                        let share = half / all.len() as f64;
                        for path in all {
                            path[1..path.len() - 1].iter().for_each(|&v| between[v as usize] += share);
                            for ends in path.windows(2) {
                                let ways = [(ends[0], ends[1]), (ends[1], ends[0])];
                                for (u, v) in ways.into_iter().take(if network.directed { 1 } else { 2 }) {
                                    let at = network.out.of(u).binary_search(&v).unwrap();
                                    over[network.out.offsets()[u as usize] + at] += share;
                                }
                            }
                        }
                    }
                }
                let what = format!("graph {seed}");
                let plain = BetweennessOptions { normalized: false, ..BetweennessOptions::default() };
                let found = betweenness_centrality(network, &plain, &Unmonitored).unwrap();
                assert_close(&found.value, &between, &what);
                assert_close(&edge_betweenness(network, &plain, &Unmonitored).unwrap().value, &over, &what);
                let closeness = |(count, sum): (&f64, &f64)| match *count {
                    0.0 => 0.0,
                    count => count / sum * count / (n as f64 - 1.0),
                };
                let expected: Vec<f64> = count.iter().zip(&sum).map(closeness).collect();
                assert_close(&closeness_centrality(network, &Unmonitored).unwrap(), &expected, &what);
                assert_close(&harmonic_centrality(network, &Unmonitored).unwrap(), &harmonic, &what);
            }
        }
    }

    #[test]
    fn a_length_of_zero_is_an_error_with_its_edge() {
        let arcs = WeightedArcs::new(3, [(0, 1, 1.0), (1, 2, 0.0)].into_iter()).unwrap();
        let network = Network::weighted(&arcs, None);
        let error = closeness_centrality(network, &Unmonitored).unwrap_err();
        assert!(
            matches!(&error, AlgorithmError::Nodes { text, nodes } if text.contains("weight 0") && nodes == &[1, 2])
        );
        assert!(betweenness_centrality(network, &BetweennessOptions::default(), &Unmonitored).is_err());
    }
}
