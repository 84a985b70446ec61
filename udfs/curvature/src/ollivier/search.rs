//! Shortest paths from one node, where edges have lengths, as far as they are wanted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bonnet_graph::{Graph, Monitor, Stopped};

/// A graph with the length of each arc, in the order of [`Graph::targets`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Roads<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lengths: &'a [f64],
}

impl Roads<'_> {
    /// The neighbours of a node with the lengths of the edges to them.
    pub(super) fn from(&self, v: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let offsets = self.graph.offsets();
        let range = offsets[v as usize]..offsets[v as usize + 1];
        self.graph.targets()[range.clone()].iter().copied().zip(self.lengths[range].iter().copied())
    }
}

/// Dijkstra's search. Holds 8 bytes a node.
#[derive(Debug)]
pub(super) struct Search {
    /// The length of the shortest path found so far; infinite where there is none.
    distance: Vec<f64>,
    touched: Vec<u32>,
    /// Distances as bits, which order as the numbers do.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// No path that is not found yet is shorter.
    pub(super) frontier: f64,
}

impl Search {
    pub(super) fn new(n: usize) -> Self {
        Self { distance: vec![f64::INFINITY; n], touched: Vec::new(), queue: BinaryHeap::new(), frontier: 0.0 }
    }

    /// The length of the shortest path found to a node.
    pub(super) fn distance(&self, v: u32) -> f64 {
        self.distance[v as usize]
    }

    fn start(&mut self, source: u32) {
        self.touched.iter().for_each(|&v| self.distance[v as usize] = f64::INFINITY);
        self.touched.clear();
        self.queue.clear();
        self.reach(source, 0.0);
    }

    fn reach(&mut self, v: u32, distance: f64) {
        if self.distance[v as usize].is_infinite() {
            self.touched.push(v);
        }
        self.distance[v as usize] = distance;
        self.queue.push(Reverse((distance.to_bits(), v)));
    }

    /// The next node in the order of distances.
    fn next(&mut self) -> Option<(u32, f64)> {
        while let Some(Reverse((bits, v))) = self.queue.pop() {
            let distance = f64::from_bits(bits);
            if distance == self.distance[v as usize] {
                return Some((v, distance));
            }
        }
        None
    }

    /// Searches until `wanted` nodes for which `is_wanted` holds are reached, and all that are no farther; fewer where no
    /// path leads to the others.
    pub(super) fn until(
        &mut self,
        roads: Roads<'_>,
        source: u32,
        mut wanted: usize,
        is_wanted: impl Fn(u32) -> bool,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.start(source);
        let mut last = 0.0;
        let mut taken = 0;
        while let Some((v, distance)) = self.next() {
            if wanted == 0 && distance > last {
                self.frontier = distance;
                return Ok(());
            }
            taken += 1;
            if taken % 1024 == 0 {
                monitor.check()?;
            }
            if wanted > 0 && is_wanted(v) {
                wanted -= 1;
                last = distance;
            }
            for (u, length) in roads.from(v) {
                let through = distance + length;
                if through < self.distance[u as usize] {
                    self.reach(u, through);
                }
            }
        }
        self.frontier = f64::INFINITY;
        Ok(())
    }

    /// Searches from a node t for paths to nodes within `radius` of the owner of `hub`, a search that reached them and t, as
    /// far as they are shorter than the detour by the owner.
    ///
    /// A node x helps only where it is closer to t than by the owner; and the rest of the way from x to a node s is at
    /// least d(owner, x) - d(owner, s), so the whole is no shorter than by the owner where d(t, x) + d(owner, x) is not below
    /// d(t, owner) + 2 radius.
    pub(super) fn beside(
        &mut self,
        roads: Roads<'_>,
        source: u32,
        hub: &Search,
        radius: f64,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.start(source);
        let to_owner = hub.distance(source);
        let farthest = to_owner + 2.0 * radius;
        let mut taken = 0;
        while let Some((v, distance)) = self.next() {
            taken += 1;
            if taken % 1024 == 0 {
                monitor.check()?;
            }
            for (u, length) in roads.from(v) {
                let through = distance + length;
                if through >= self.distance[u as usize] {
                    continue;
                }
                let known = hub.distance[u as usize];
                let helps = match known < hub.frontier {
                    true => through < to_owner + known && through + known < farthest,
                    false => through + hub.frontier < farthest,
                };
                if helps {
                    self.reach(u, through);
                }
            }
        }
        Ok(())
    }
}
