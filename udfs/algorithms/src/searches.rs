//! Breadth-first search from up to 512 nodes at once: each node holds a bit for each search.
//!
//! Ours, as petgraph searches from one node at a time, and its searches for all pairs hold n^2 distances or hash maps.

use bonnet_graph::{Monitor, Stopped};

use crate::Network;

/// The searches of a batch.
pub(crate) const LANES: usize = 512;

const WORDS: usize = LANES / 64;

/// A level is swept node by node where it has more than a part of the arcs that are left, else from its nodes on.
const SPARSE_COST: usize = 8;

/// Nodes between two looks at the monitor.
const TOGETHER: usize = 1 << 14;

/// A set of searches, one cache line wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Lanes([u64; WORDS]);

impl Lanes {
    pub(crate) const EMPTY: Self = Self([0; WORDS]);

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn without(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
        self
    }

    /// The number of searches.
    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// The state of a batch, to be used for one batch after the other.
pub(crate) struct Searches<'a> {
    network: Network<'a>,
    seen: Vec<Lanes>,
    current: Vec<Lanes>,
    next: Vec<Lanes>,
    active: Vec<u32>,
    reached: Vec<u32>,
}

impl<'a> Searches<'a> {
    /// The bytes held for a graph of `n` nodes.
    pub(crate) fn bytes(n: usize) -> usize {
        n * (3 * size_of::<Lanes>() + 8)
    }

    pub(crate) fn new(network: Network<'a>) -> Self {
        let n = network.n_nodes();
        let none = || vec![Lanes::EMPTY; n];
        Self { network, seen: none(), current: none(), next: none(), active: Vec::new(), reached: Vec::new() }
    }

    /// Searches along the arcs from each of `sources`, at most [`LANES`] distinct nodes. For each level from 1 on and each
    /// node, `visit(level, node, found)` says which searches reach the node at this level, if any do. Gives the last level.
    ///
    /// # Errors
    /// If the monitor stops it; then the state is of no more use.
    pub(crate) fn run(
        &mut self,
        sources: &[u32],
        monitor: &dyn Monitor,
        mut visit: impl FnMut(u32, u32, &Lanes),
    ) -> Result<u32, Stopped> {
        let Network { out, into, .. } = self.network;
        let n = self.network.n_nodes();
        let mut all = Lanes::EMPTY;
        self.seen.fill(Lanes::EMPTY);
        self.active.clear();
        for (lane, &v) in sources.iter().enumerate() {
            let (word, bit) = (lane / 64, 1 << (lane % 64));
            all.0[word] |= bit;
            self.seen[v as usize].0[word] |= bit;
            self.current[v as usize].0[word] |= bit;
            self.active.push(v);
        }
        let mut level = 0;
        while !self.active.is_empty() {
            monitor.check()?;
            level += 1;
            self.reached.clear();
            let active_arcs: usize = self.active.iter().map(|&v| out.degree(v)).sum();
            if SPARSE_COST * active_arcs > out.n_arcs() {
                for v in 0..n {
                    if v.is_multiple_of(TOGETHER) {
                        monitor.check()?;
                    }
                    let seen = &mut self.seen[v];
                    if *seen == all {
                        continue;
                    }
                    let mut found = Lanes::EMPTY;
                    into.of(v as u32).iter().for_each(|&u| found.add(&self.current[u as usize]));
                    let found = found.without(seen);
                    if !found.is_empty() {
                        seen.add(&found);
                        self.next[v] = found;
                        self.reached.push(v as u32);
                        visit(level, v as u32, &found);
                    }
                }
            } else {
                for &u in &self.active {
                    for &v in out.of(u) {
                        let found = self.current[u as usize].without(&self.seen[v as usize]);
                        if !found.is_empty() {
                            let next = &mut self.next[v as usize];
                            if next.is_empty() {
                                self.reached.push(v);
                            }
                            next.add(&found);
                        }
                    }
                }
                for &v in &self.reached {
                    let found = self.next[v as usize];
                    self.seen[v as usize].add(&found);
                    visit(level, v, &found);
                }
            }
            self.active.iter().for_each(|&v| self.current[v as usize] = Lanes::EMPTY);
            std::mem::swap(&mut self.current, &mut self.next);
            std::mem::swap(&mut self.active, &mut self.reached);
        }
        // The last level reached nothing.
        Ok(level.saturating_sub(1))
    }
}

/// A breadth-first search from one node: the distances, and the nodes in the order of being found.
pub(crate) struct Search {
    /// `u32::MAX` where no path leads.
    pub(crate) distance: Vec<u32>,
    pub(crate) order: Vec<u32>,
}

impl Search {
    pub(crate) fn new(n: usize) -> Self {
        Self { distance: vec![u32::MAX; n], order: Vec::with_capacity(n) }
    }

    /// Searches along the arcs from `source`; gives the largest distance.
    pub(crate) fn run(&mut self, network: Network<'_>, source: u32) -> u32 {
        self.order.iter().for_each(|&v| self.distance[v as usize] = u32::MAX);
        self.order.clear();
        self.order.push(source);
        self.distance[source as usize] = 0;
        let mut head = 0;
        while head < self.order.len() {
            let u = self.order[head];
            head += 1;
            let next = self.distance[u as usize] + 1;
            for &v in network.out.of(u) {
                if self.distance[v as usize] == u32::MAX {
                    self.distance[v as usize] = next;
                    self.order.push(v);
                }
            }
        }
        self.order.last().map_or(0, |&v| self.distance[v as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::{Digraph, Unmonitored};

    #[test]
    fn searches_side_by_side_reach_every_node_at_its_distance() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let out = Digraph::from_arcs(n, &rows);
            let into = out.reversed();
            let network = Network::directed(&out, &into);
            let distances = testing::distances(network);
            let mut searches = Searches::new(network);
            let mut search = Search::new(n);
            for sources in [(0..n as u32).collect::<Vec<_>>(), vec![0]] {
                let mut found = vec![vec![0; n]; n + 1];
                let last = searches
                    .run(&sources, &Unmonitored, |level, v, lanes| found[level as usize][v as usize] += lanes.count())
                    .unwrap();
                let mut expected = vec![vec![0; n]; n + 1];
                let mut largest = 0;
                for &source in &sources {
                    for (v, distance) in distances[source as usize].iter().enumerate() {
                        if let Some(distance) = distance.filter(|&distance| distance > 0) {
                            expected[distance as usize][v] += 1;
                            largest = largest.max(distance);
                        }
                    }
                    search.run(network, source);
                    let single: Vec<_> = search.distance.iter().map(|&d| (d != u32::MAX).then_some(d)).collect();
                    assert_eq!(single, distances[source as usize]);
                }
                assert_eq!((found, last), (expected, largest), "graph {seed}");
            }
        }
    }
}
