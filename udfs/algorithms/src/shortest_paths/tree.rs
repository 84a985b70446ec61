//! The tree of shortest paths that a search from one node grows.

use std::collections::BinaryHeap;

use bonnet_graph::{Monitor, Stopped};

use super::path::ShortestPath;
use crate::Network;
use crate::waiting::Waiting;

/// Nodes between two questions to the monitor.
const CHECK_EVERY: usize = 1024;

/// No node, or no arc.
pub(super) const NONE: u32 = u32::MAX;

/// The shortest paths from the source of the last search, to the nodes that it reached.
pub(super) struct Tree {
    pub(super) source: u32,
    pub(super) distance: Vec<f64>,
    pub(super) parent: Vec<u32>,
    pub(super) reached: Vec<u32>,
    heap: BinaryHeap<Waiting>,
    settled: Vec<bool>,
}

impl Tree {
    /// A tree of a graph of `n` nodes before its first search.
    pub(super) fn new(n: usize) -> Self {
        Self {
            source: NONE,
            distance: vec![f64::INFINITY; n],
            parent: vec![NONE; n],
            reached: Vec::new(),
            heap: BinaryHeap::new(),
            settled: vec![false; n],
        }
    }

    /// The nodes that the last search reached.
    pub(super) fn reached(&self) -> &[u32] {
        &self.reached
    }

    /// Begins a search.
    pub(super) fn start(&mut self, source: u32) {
        for v in self.reached.drain(..) {
            self.distance[v as usize] = f64::INFINITY;
            self.parent[v as usize] = NONE;
            self.settled[v as usize] = false;
        }
        self.heap.clear();
        self.source = source;
        self.reach(source, NONE, 0.0);
    }

    pub(super) fn reach(&mut self, v: u32, parent: u32, distance: f64) {
        if self.distance[v as usize] == f64::INFINITY {
            self.reached.push(v);
        }
        self.distance[v as usize] = distance;
        self.parent[v as usize] = parent;
    }

    /// The search of a graph without weights, from the start that [`Tree::start`] set.
    pub(super) fn breadth_first(
        &mut self,
        network: Network<'_>,
        target: Option<u32>,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let mut head = 0;
        while let Some(&v) = self.reached.get(head) {
            head += 1;
            if head.is_multiple_of(CHECK_EVERY) {
                monitor.check()?;
            }
            for &w in network.out.of(v) {
                if self.distance[w as usize] == f64::INFINITY {
                    self.reach(w, v, self.distance[v as usize] + 1.0);
                }
            }
            if target.is_some_and(|target| self.distance[target as usize] != f64::INFINITY) {
                break;
            }
        }
        Ok(())
    }

    /// Dijkstra's search along the arcs that `open` lets pass, from the start that [`Tree::start`] set.
    pub(super) fn dijkstra(
        &mut self,
        network: Network<'_>,
        target: Option<u32>,
        open: impl Fn(u32, u32) -> bool,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.heap.push(Waiting { distance: 0.0, node: self.source });
        let mut taken = 0usize;
        while let Some(Waiting { distance, node: v }) = self.heap.pop() {
            if std::mem::replace(&mut self.settled[v as usize], true) {
                continue;
            }
            taken += 1;
            if taken.is_multiple_of(CHECK_EVERY) {
                monitor.check()?;
            }
            if target == Some(v) {
                break;
            }
            for (w, weight) in network.out.weighted(v) {
                let through = distance + weight;
                // A node of no finite distance would look like one never reached.
                if through < self.distance[w as usize] && !self.settled[w as usize] && open(v, w) {
                    self.reach(w, v, through);
                    self.heap.push(Waiting { distance: through, node: w });
                }
            }
        }
        Ok(())
    }

    /// The path to a node that the search reached.
    pub(super) fn path(&self, target: u32, nodes: bool) -> Option<ShortestPath> {
        let distance = self.distance[target as usize];
        if distance == f64::INFINITY {
            return None;
        }
        let mut path = Vec::new();
        if nodes {
            let mut v = target;
            while v != NONE {
                path.push(v);
                v = self.parent[v as usize];
            }
            path.reverse();
        }
        Some(ShortestPath { source: self.source, target, rank: 1, distance, nodes: path })
    }
}
