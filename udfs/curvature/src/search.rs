//! Shortest paths where edges have lengths, as far as they are wanted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bonnet_graph::{Graph, Monitor, Stopped};

/// A graph with the length of each arc, none of them negative, in the order of [`Graph::targets`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roads<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) lengths: &'a [f64],
}

impl Roads<'_> {
    /// The neighbours of a node with the lengths of the edges to them.
    pub(crate) fn from(&self, v: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let offsets = self.graph.offsets();
        let range = offsets[v as usize]..offsets[v as usize + 1];
        self.graph.targets()[range.clone()].iter().copied().zip(self.lengths[range].iter().copied())
    }
}

/// Distances as bits, which order as numbers that are not negative do, and their nodes.
type Queue = BinaryHeap<Reverse<(u64, u32)>>;

/// Dijkstra's loop: takes nodes from the queue in the order of their distances until `takes` says no to one, whose distance is answered,
/// or none is left (infinity). A node is reached over a shorter way than the one known where `follows`, given it, the way and what was known,
/// agrees.
fn spread(
    roads: Roads<'_>,
    distance: &mut [f64],
    queue: &mut Queue,
    monitor: &dyn Monitor,
    mut takes: impl FnMut(u32, f64) -> bool,
    mut follows: impl FnMut(u32, f64, f64) -> bool,
) -> Result<f64, Stopped> {
    let mut taken = 0u32;
    while let Some(Reverse((bits, v))) = queue.pop() {
        let at = f64::from_bits(bits);
        if at > distance[v as usize] {
            continue;
        }
        taken = taken.wrapping_add(1);
        if taken.is_multiple_of(1024) {
            monitor.check()?;
        }
        if !takes(v, at) {
            return Ok(at);
        }
        for (u, length) in roads.from(v) {
            let through = at + length;
            let known = distance[u as usize];
            if through < known && follows(u, through, known) {
                distance[u as usize] = through;
                queue.push(Reverse((through.to_bits(), u)));
            }
        }
    }
    Ok(f64::INFINITY)
}

/// The distances from a node into `row`, infinite where no path leads; answers the largest finite one. O(m log n).
pub(crate) fn distances(roads: Roads<'_>, source: u32, row: &mut [f64], monitor: &dyn Monitor) -> Result<f64, Stopped> {
    row.fill(f64::INFINITY);
    row[source as usize] = 0.0;
    let mut queue = Queue::from([Reverse((0, source))]);
    let mut last = 0.0;
    let takes = |_, at| {
        last = at;
        true
    };
    spread(roads, row, &mut queue, monitor, takes, |_, _, _| true)?;
    Ok(last)
}

/// Searches from one node after the other that stay close. Holds 8 bytes a node.
#[derive(Debug)]
pub(crate) struct Search {
    /// The length of the shortest path found so far; infinite where there is none.
    distance: Vec<f64>,
    touched: Vec<u32>,
    queue: Queue,
    /// No path that is not found yet is shorter.
    frontier: f64,
}

impl Search {
    pub(crate) fn new(n: usize) -> Self {
        Self { distance: vec![f64::INFINITY; n], touched: Vec::new(), queue: Queue::new(), frontier: 0.0 }
    }

    /// The length of the shortest path found to a node.
    pub(crate) fn distance(&self, v: u32) -> f64 {
        self.distance[v as usize]
    }

    /// The nodes that were reached.
    pub(crate) fn reached(&self) -> &[u32] {
        &self.touched
    }

    /// At least this far is a node: its distance where the search ended beyond it.
    fn at_least(&self, v: u32) -> f64 {
        self.distance[v as usize].min(self.frontier)
    }

    fn start(&mut self, sources: impl Iterator<Item = (u32, f64)>) {
        self.touched.iter().for_each(|&v| self.distance[v as usize] = f64::INFINITY);
        self.touched.clear();
        self.queue.clear();
        for (v, distance) in sources {
            if self.distance[v as usize].is_infinite() {
                self.touched.push(v);
            }
            self.distance[v as usize] = distance;
            self.queue.push(Reverse((distance.to_bits(), v)));
        }
    }

    fn run(
        &mut self,
        roads: Roads<'_>,
        monitor: &dyn Monitor,
        takes: impl FnMut(u32, f64) -> bool,
        helps: impl Fn(u32, f64) -> bool,
    ) -> Result<(), Stopped> {
        let Self { distance, touched, queue, frontier } = self;
        let follows = |u, through, known: f64| {
            let follows = helps(u, through);
            if follows && known.is_infinite() {
                touched.push(u);
            }
            follows
        };
        *frontier = spread(roads, distance, queue, monitor, takes, follows)?;
        Ok(())
    }

    /// Searches until `wanted` nodes for which `is_wanted` holds are reached, and all that are no farther; fewer where no
    /// path leads to the others.
    pub(crate) fn until(
        &mut self,
        roads: Roads<'_>,
        source: u32,
        mut wanted: usize,
        is_wanted: impl Fn(u32) -> bool,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.start(std::iter::once((source, 0.0)));
        let mut last = 0.0;
        let takes = |v, at| {
            if wanted == 0 && at > last {
                return false;
            }
            if wanted > 0 && is_wanted(v) {
                wanted -= 1;
                last = at;
            }
            true
        };
        self.run(roads, monitor, takes, |_, _| true)
    }

    /// Searches from all of `targets` at once, each of which begins at `radius` less its distance by `hub`, a search that reached them all and
    /// whose farthest is `radius` away. At a node x this finds `radius` plus the least of d(x, t) - d(owner, t): by how much x can shorten a
    /// way to a target that leads by the owner of `hub`.
    ///
    /// Only as far as it helps ways from nodes at most `farthest` from the owner. A node x helps one of them, s, where d(s, x) and what is found
    /// here are together below d(s, owner); as d(s, x) is at least d(owner, x) - d(s, owner), that needs what is found here plus d(owner, x) below
    /// 2 `farthest`, and so do all nodes between x and the target.
    pub(crate) fn toward(
        &mut self,
        roads: Roads<'_>,
        targets: impl Iterator<Item = u32>,
        hub: &Search,
        radius: f64,
        farthest: f64,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.start(targets.map(|target| (target, radius - hub.distance(target))));
        let limit = 2.0 * farthest + radius;
        self.run(roads, monitor, |_, _| true, |u, through| through + hub.at_least(u) < limit)
    }

    /// Searches from a node s, `to_owner` away from the owner, for ways to targets that are shorter than the detour by the owner, where
    /// `ahead` is the search [`Search::toward`] them, of this radius. Every node on such a way is reached, few others are.
    pub(crate) fn beside(
        &mut self,
        roads: Roads<'_>,
        source: u32,
        to_owner: f64,
        ahead: &Search,
        radius: f64,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.start(std::iter::once((source, 0.0)));
        let limit = to_owner + radius;
        self.run(roads, monitor, |_, _| true, |u, through| through + ahead.distance(u) < limit)
    }
}
