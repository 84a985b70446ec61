//! The cycles of a length through each node.

use std::sync::atomic::{AtomicU64, Ordering};

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::blocks::for_each_block;
use super::ranked::{Ranked, STEPS};

/// The cycles of 5 nodes through each node, with chords or without. Opposite of node v in such a cycle is an edge xy; from v to either
/// end lead paths of two steps, and those pairs of paths that meet are taken off. (After Alon, Yuster and Zwick, Finding and
/// counting given length cycles, 1997.)
///
/// # Errors
/// The monitor stopped the work.
pub(super) fn five_cycles(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u128>, Stopped> {
    let (n, m) = (graph.n_nodes(), graph.n_edges());
    let _held = Reservation::new(monitor, Ranked::bytes(n, m) + 24 * m + 48 * n)?;
    let ranked = Ranked::new(graph);
    let edge_triangles = ranked.edge_triangles(monitor)?;
    let triangles = ranked.node_triangles(&edge_triangles);
    // The triangles of the neighbours of each node, less those with the node itself: its pairs of paths that meet at once.
    let mut meeting = vec![0i128; n];
    for u in 0..n as u32 {
        for slot in ranked.later(u) {
            let (v, shared) = (ranked.graph.targets()[slot], i128::from(edge_triangles[slot]));
            meeting[u as usize] += i128::from(triangles[v as usize]) - shared;
            meeting[v as usize] += i128::from(triangles[u as usize]) - shared;
        }
    }
    let graph = &ranked.graph;
    let counts: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
    let work = (0..n as u32).map(|v| graph.degree(v).pow(2)).sum::<usize>();
    // The paths of two steps to each node, whether it is a neighbour, and the nodes that have any.
    let scratch = || (vec![0u32; n], vec![false; n], Vec::<u32>::new());
    for_each_block(n, work, scratch, |(paths, near, reached), block| {
        let mut steps = 0;
        for v in block {
            let v = v as u32;
            for &a in graph.neighbors(v) {
                near[a as usize] = true;
                for &x in graph.neighbors(a) {
                    if x != v {
                        if paths[x as usize] == 0 {
                            reached.push(x);
                        }
                        paths[x as usize] += 1;
                    }
                }
            }
            let mut sum = -meeting[v as usize];
            for &x in &*reached {
                let (to_x, near_x) = (i128::from(paths[x as usize]), near[x as usize]);
                let neighbours = graph.neighbors(x);
                for &y in &neighbours[neighbours.partition_point(|&y| y <= x)..] {
                    let to_y = i128::from(paths[y as usize]);
                    if to_y == 0 {
                        continue;
                    }
                    let near_y = near[y as usize];
                    // A path that goes through the other end is none of the cycle's.
                    sum += to_x * to_y + i128::from(near_x && near_y)
                        - if near_y { to_y } else { 0 }
                        - if near_x { to_x } else { 0 };
                }
                steps += 1 + neighbours.len();
                if steps >= STEPS {
                    steps = 0;
                    monitor.check()?;
                }
            }
            graph.neighbors(v).iter().for_each(|&a| near[a as usize] = false);
            reached.drain(..).for_each(|x| paths[x as usize] = 0);
            counts[ranked.node[v as usize] as usize].store(u64::try_from(sum).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(in_full(counts))
}

/// The cycles of `length` nodes through each node, with chords or without, each found at its node of highest rank. `length` is at
/// least 4.
///
/// # Errors
/// The monitor stopped the work.
pub(super) fn cycles(graph: &Graph, length: usize, monitor: &dyn Monitor) -> Result<Vec<u128>, Stopped> {
    walk(graph, length, false, monitor)
}

/// The cycles of `length` nodes through each node between which there are no other edges. `length` is at least 4.
///
/// # Errors
/// The monitor stopped the work.
pub(super) fn chordless_cycles(graph: &Graph, length: usize, monitor: &dyn Monitor) -> Result<Vec<u128>, Stopped> {
    walk(graph, length, true, monitor)
}

fn in_full(counts: Vec<AtomicU64>) -> Vec<u128> {
    counts.into_iter().map(|count| u128::from(count.into_inner())).collect()
}

fn walk(graph: &Graph, length: usize, chordless: bool, monitor: &dyn Monitor) -> Result<Vec<u128>, Stopped> {
    let (n, m) = (graph.n_nodes(), graph.n_edges());
    let _held = Reservation::new(monitor, Ranked::bytes(n, m) + 24 * n)?;
    let ranked = Ranked::new(graph);
    let counts: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
    let work = (0..n as u32).map(|v| ranked.graph.degree(v).pow(2)).sum::<usize>();
    let scratch = || Walk {
        graph: &ranked.graph,
        counts: &counts,
        monitor,
        length,
        chordless,
        top: 0,
        second: 0,
        back: vec![u8::MAX; n],
        touched: vec![0; n],
        path: Vec::with_capacity(length),
        steps: 0,
    };
    for_each_block(n, work, scratch, |walk, block| block.into_iter().try_for_each(|top| walk.from(top as u32)))?;
    let mut by_node = vec![0; n];
    for (count, &node) in counts.into_iter().zip(&ranked.node) {
        by_node[node as usize] = u128::from(count.into_inner());
    }
    Ok(by_node)
}

/// A walk along the cycles whose node of highest rank is `top`.
struct Walk<'a> {
    graph: &'a Graph,
    counts: &'a [AtomicU64],
    monitor: &'a dyn Monitor,
    length: usize,
    chordless: bool,
    top: u32,
    /// The first node after the top; the last is of higher rank, so that each cycle is walked in one direction.
    second: u32,
    /// The steps back to the top through lower ranks, where they are few enough.
    back: Vec<u8>,
    /// How many nodes of the path are neighbours, for chordless cycles.
    touched: Vec<u8>,
    path: Vec<u32>,
    steps: usize,
}

impl Walk<'_> {
    fn lower(&self, v: u32) -> &[u32] {
        let neighbours = self.graph.neighbors(v);
        &neighbours[..neighbours.partition_point(|&u| u < self.top)]
    }

    fn from(&mut self, top: u32) -> Result<(), Stopped> {
        self.top = top;
        let reached = self.find_back();
        self.enter(top);
        let mut found = 0;
        for i in 0..self.lower(top).len() {
            let second = self.lower(top)[i];
            self.second = second;
            self.enter(second);
            found += self.extend(second)?;
            self.leave(second);
        }
        self.leave(top);
        self.add(top, found);
        reached.into_iter().for_each(|v| self.back[v as usize] = u8::MAX);
        Ok(())
    }

    /// Fills in the steps back, up to half of the cycle, and lists the nodes that have any.
    fn find_back(&mut self) -> Vec<u32> {
        let mut reached = vec![self.top];
        self.back[self.top as usize] = 0;
        let mut at = 0;
        while at < reached.len() {
            let v = reached[at];
            let steps = self.back[v as usize] + 1;
            if usize::from(steps) > self.length / 2 {
                break;
            }
            let neighbours = self.graph.neighbors(v);
            for &u in &neighbours[..neighbours.partition_point(|&u| u < self.top)] {
                if self.back[u as usize] == u8::MAX {
                    self.back[u as usize] = steps;
                    reached.push(u);
                }
            }
            at += 1;
        }
        reached
    }

    fn add(&self, v: u32, found: u64) {
        if found > 0 {
            self.counts[v as usize].fetch_add(found, Ordering::Relaxed);
        }
    }

    fn enter(&mut self, v: u32) {
        self.path.push(v);
        self.touch(v, 1);
    }

    fn leave(&mut self, v: u32) {
        self.path.pop();
        self.touch(v, u8::MAX);
    }

    /// Adds to what the neighbours of a node of the path are touched by; `u8::MAX` takes one off.
    fn touch(&mut self, v: u32, more: u8) {
        if self.chordless {
            let neighbours = self.graph.neighbors(v);
            for &u in &neighbours[..neighbours.partition_point(|&u| u < self.top)] {
                self.touched[u as usize] = self.touched[u as usize].wrapping_add(more);
            }
        }
    }

    /// The cycles that go on from the end of the path; their number is added to that of its end.
    fn extend(&mut self, end: u32) -> Result<u64, Stopped> {
        let mut found = 0;
        // The nodes that are still to come after the next.
        let left = self.length - self.path.len() - 1;
        for i in 0..self.lower(end).len() {
            let next = self.lower(end)[i];
            if usize::from(self.back[next as usize]) > left + 1 {
                continue;
            }
            if left == 0 {
                let closes = next > self.second
                    && match self.chordless {
                        true => self.touched[next as usize] == 2,
                        false => !self.path.contains(&next),
                    };
                if closes {
                    self.add(next, 1);
                    found += 1;
                }
                continue;
            }
            let goes_on = match self.chordless {
                true => self.touched[next as usize] == 1,
                false => !self.path.contains(&next),
            };
            if goes_on {
                self.enter(next);
                found += self.extend(next)?;
                self.leave(next);
            }
        }
        self.steps += 1 + self.lower(end).len();
        if self.steps >= STEPS {
            self.steps = 0;
            self.monitor.check()?;
        }
        self.add(end, found);
        Ok(found)
    }
}
