//! Whether a graph can be drawn in the plane.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

/// Nodes between two questions to the monitor.
const CHECK_EVERY: usize = 4096;

/// No arc.
const NONE: usize = usize::MAX;

/// Whether the graph can be drawn in the plane without crossing edges.
///
/// Ours (petgraph has none): the left-right test of de Fraysseix and Rosenstiehl as in Brandes, The left-right
/// planarity test (2009), Algorithms 2-5, with stacks of its own in place of recursion. O(n + m) time, but for the O(m
/// log degree) in which a node's arcs are sorted; O(n + m) memory.
///
/// # Errors
/// If the monitor stops it.
pub fn is_planar(graph: &Graph, monitor: &dyn Monitor) -> Result<bool, Stopped> {
    let (n, m) = (graph.n_nodes(), graph.n_edges());
    // Euler: a planar graph has few edges.
    if n > 2 && m > 3 * n - 6 {
        return Ok(false);
    }
    let _reservation = Reservation::new(monitor, 64 * n + 2 * m * 52)?;
    let (orientation, roots) = Orientation::new(graph, monitor)?;
    Test::new(&orientation).passes(&roots, monitor)
}

/// Every edge once as an arc: along the depth-first search, from parent to child, or back to an ancestor. Arcs are
/// known by their positions among the lists of neighbours.
struct Orientation<'a> {
    graph: &'a Graph,
    /// The distance of each node from the root of its tree.
    height: Vec<u32>,
    /// The arc that leads to a node from its parent.
    parent_arc: Vec<usize>,
    parent: Vec<u32>,
    /// The height of the lowest node that an arc leads back to, by itself or from below it.
    low: Vec<u32>,
    /// The arcs that leave each node, those that lead back lowest first.
    arcs: Vec<usize>,
    starts: Vec<usize>,
}

impl<'a> Orientation<'a> {
    fn new(graph: &'a Graph, monitor: &dyn Monitor) -> Result<(Self, Vec<u32>), Stopped> {
        let (n, targets, offsets) = (graph.n_nodes(), graph.targets(), graph.offsets());
        let mut height = vec![u32::MAX; n];
        let (mut parent_arc, mut parent) = (vec![NONE; n], vec![u32::MAX; n]);
        let (mut low, mut second) = (vec![u32::MAX; targets.len()], vec![u32::MAX; targets.len()]);
        let mut next = offsets[..n].to_vec();
        let mut leaving = vec![0usize; n + 1];
        let (mut roots, mut path, mut visited) = (Vec::new(), Vec::new(), 0usize);
        for root in 0..n as u32 {
            if height[root as usize] != u32::MAX {
                continue;
            }
            height[root as usize] = 0;
            roots.push(root);
            path.push(root);
            while let Some(&v) = path.last() {
                let i = v as usize;
                let own = height[i];
                // The arc whose low points are final now.
                let done = if next[i] == offsets[i + 1] {
                    path.pop();
                    visited += 1;
                    if visited.is_multiple_of(CHECK_EVERY) {
                        monitor.check()?;
                    }
                    if parent_arc[i] == NONE {
                        continue;
                    }
                    parent_arc[i]
                } else {
                    let arc = next[i];
                    next[i] += 1;
                    let w = targets[arc] as usize;
                    if height[w] == u32::MAX {
                        (low[arc], second[arc]) = (own, own);
                        (height[w], parent[w], parent_arc[w]) = (own + 1, v, arc);
                        leaving[i + 1] += 1;
                        path.push(w as u32);
                        continue;
                    }
                    if parent[i] == w as u32 || height[w] > own {
                        continue;
                    }
                    leaving[i + 1] += 1;
                    (low[arc], second[arc]) = (height[w], own);
                    arc
                };
                // Into the arc to the node that `done` leaves.
                let from = if done == parent_arc[i] { parent[i] } else { v };
                let above = parent_arc[from as usize];
                if above == NONE {
                    continue;
                }
                if low[done] < low[above] {
                    second[above] = low[above].min(second[done]);
                    low[above] = low[done];
                } else if low[done] > low[above] {
                    second[above] = second[above].min(low[done]);
                } else {
                    second[above] = second[above].min(second[done]);
                }
            }
        }
        for v in 0..n {
            leaving[v + 1] += leaving[v];
        }
        let starts = leaving;
        let mut arcs = Vec::with_capacity(starts[n]);
        for v in 0..n {
            let first = arcs.len();
            arcs.extend((offsets[v]..offsets[v + 1]).filter(|&arc| low[arc] != u32::MAX));
            // Of two with the same low point, those with another return below `v` are nested outside.
            arcs[first..].sort_by_key(|&arc| (low[arc], second[arc] < height[v]));
        }
        Ok((Self { graph, height, parent_arc, parent, low, arcs, starts }, roots))
    }

    fn target(&self, arc: usize) -> u32 {
        self.graph.targets()[arc]
    }
}

/// Arcs that lead back and are on one side, as a list from the highest to the lowest.
#[derive(Clone, Copy)]
struct Interval {
    low: usize,
    high: usize,
}

impl Interval {
    const EMPTY: Self = Self { low: NONE, high: NONE };

    fn is_empty(self) -> bool {
        self.high == NONE
    }
}

/// Arcs that have to be on different sides.
#[derive(Clone, Copy)]
struct Conflict {
    left: Interval,
    right: Interval,
}

struct Test<'a> {
    graph: &'a Orientation<'a>,
    conflicts: Vec<Conflict>,
    /// The number of conflicts before an arc was walked.
    bottom: Vec<usize>,
    /// The arc that leads back lowest among those at and below an arc.
    lowest_arc: Vec<usize>,
    /// The next arc of an interval.
    below: Vec<usize>,
}

impl<'a> Test<'a> {
    fn new(graph: &'a Orientation<'a>) -> Self {
        let arcs = graph.graph.targets().len();
        Self {
            graph,
            conflicts: Vec::new(),
            bottom: vec![0; arcs],
            lowest_arc: vec![NONE; arcs],
            below: vec![NONE; arcs],
        }
    }

    fn passes(&mut self, roots: &[u32], monitor: &dyn Monitor) -> Result<bool, Stopped> {
        let graph = self.graph;
        let mut next = graph.starts.clone();
        let mut visited = 0usize;
        let mut path = Vec::new();
        for &root in roots {
            path.push(root);
            while let Some(&v) = path.last() {
                let i = v as usize;
                // The arc that has been walked with all below it.
                let done = if next[i] == graph.starts[i + 1] {
                    path.pop();
                    visited += 1;
                    if visited.is_multiple_of(CHECK_EVERY) {
                        monitor.check()?;
                    }
                    if graph.parent_arc[i] == NONE {
                        continue;
                    }
                    self.trim(v);
                    graph.parent_arc[i]
                } else {
                    let arc = graph.arcs[next[i]];
                    next[i] += 1;
                    self.bottom[arc] = self.conflicts.len();
                    let w = graph.target(arc);
                    if graph.parent_arc[w as usize] == arc {
                        path.push(w);
                        continue;
                    }
                    self.lowest_arc[arc] = arc;
                    self.conflicts.push(Conflict { left: Interval::EMPTY, right: Interval { low: arc, high: arc } });
                    arc
                };
                let from = if done == graph.parent_arc[i] { graph.parent[i] } else { v };
                if graph.low[done] < graph.height[from as usize] {
                    let above = graph.parent_arc[from as usize];
                    if done == graph.arcs[graph.starts[from as usize]] {
                        self.lowest_arc[above] = self.lowest_arc[done];
                    } else if !self.add_constraints(done, above) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether an arc of the interval leads back lower than `arc` does not: then they cannot be on one side.
    fn conflicting(&self, interval: Interval, arc: usize) -> bool {
        !interval.is_empty() && self.graph.low[interval.high] > self.graph.low[arc]
    }

    fn link(&mut self, arc: usize, next: usize) {
        if arc != NONE {
            self.below[arc] = next;
        }
    }

    /// Brings the arcs that lead back from `arc` to one side, those before it that conflict to the other; `false` if
    /// that cannot be.
    fn add_constraints(&mut self, arc: usize, above: usize) -> bool {
        let low = &self.graph.low;
        let mut new = Conflict { left: Interval::EMPTY, right: Interval::EMPTY };
        while self.conflicts.len() > self.bottom[arc] {
            let Some(mut conflict) = self.conflicts.pop() else { break };
            if !conflict.left.is_empty() {
                std::mem::swap(&mut conflict.left, &mut conflict.right);
            }
            if !conflict.left.is_empty() {
                return false;
            }
            if low[conflict.right.low] > low[above] {
                match new.right.is_empty() {
                    true => new.right.high = conflict.right.high,
                    false => self.below[new.right.low] = conflict.right.high,
                }
                new.right.low = conflict.right.low;
            } else {
                self.below[conflict.right.low] = self.lowest_arc[above];
            }
        }
        while let Some(&top) = self.conflicts.last() {
            if !self.conflicting(top.left, arc) && !self.conflicting(top.right, arc) {
                break;
            }
            self.conflicts.pop();
            let mut conflict = top;
            if self.conflicting(conflict.right, arc) {
                std::mem::swap(&mut conflict.left, &mut conflict.right);
            }
            if self.conflicting(conflict.right, arc) {
                return false;
            }
            self.link(new.right.low, conflict.right.high);
            if conflict.right.low != NONE {
                new.right.low = conflict.right.low;
            }
            match new.left.is_empty() {
                true => new.left.high = conflict.left.high,
                false => self.below[new.left.low] = conflict.left.high,
            }
            new.left.low = conflict.left.low;
        }
        if !(new.left.is_empty() && new.right.is_empty()) {
            self.conflicts.push(new);
        }
        true
    }

    /// Takes out the arcs that end at the parent of `v`: all below `v` has been walked.
    fn trim(&mut self, v: u32) {
        let graph = self.graph;
        let parent = graph.parent[v as usize];
        let height = graph.height[parent as usize];
        let lowest = |conflict: &Conflict| match (conflict.left.is_empty(), conflict.right.is_empty()) {
            (true, _) => graph.low[conflict.right.low],
            (_, true) => graph.low[conflict.left.low],
            _ => graph.low[conflict.left.low].min(graph.low[conflict.right.low]),
        };
        while self.conflicts.last().is_some_and(|conflict| lowest(conflict) == height) {
            self.conflicts.pop();
        }
        let Some(mut conflict) = self.conflicts.pop() else { return };
        for left in [true, false] {
            let (mut side, other) = match left {
                true => (conflict.left, conflict.right),
                false => (conflict.right, conflict.left),
            };
            while side.high != NONE && graph.target(side.high) == parent {
                side.high = self.below[side.high];
            }
            if side.high == NONE && side.low != NONE {
                self.below[side.low] = other.low;
                side.low = NONE;
            }
            match left {
                true => conflict.left = side,
                false => conflict.right = side,
            }
        }
        self.conflicts.push(conflict);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;
    use bonnet_graph::random::below;
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn planar(n: usize, edges: &[(u32, u32)]) -> bool {
        is_planar(&Graph::from_edges(n, edges), &Unmonitored).unwrap()
    }

    fn complete(n: u32) -> Vec<(u32, u32)> {
        (0..n).flat_map(|u| (0..u).map(move |v| (v, u))).collect()
    }

    /// By Wagner's theorem: no contraction of edges and removal of others leaves K5 or K3,3. On few nodes.
    fn by_minors(n: usize, edges: &[(u32, u32)], seen: &mut std::collections::HashMap<(usize, u64), bool>) -> bool {
        let bit = |u: usize, v: usize| 1u64 << (u.max(v) * 8 + u.min(v));
        let code = edges.iter().fold(0, |code, &(u, v)| code | bit(u as usize, v as usize));
        if let Some(&known) = seen.get(&(n, code)) {
            return known;
        }
        let has = |u: usize, v: usize| code & bit(u, v) != 0;
        let sets = |size: u32| (0..1u32 << n).filter(move |set| set.count_ones() == size);
        let members = |set: u32| (0..n).filter(move |&v| set >> v & 1 == 1);
        let k5 = sets(5).any(|set| members(set).all(|u| members(set).all(|v| u == v || has(u, v))));
        let k33 = sets(3).any(|a| sets(3).any(|b| a & b == 0 && members(a).all(|u| members(b).all(|v| has(u, v)))));
        let free = !k5
            && !k33
            && edges.iter().all(|&(u, v)| {
                // v into u, and the last node in its place.
                let last = n as u32 - 1;
                let name = |w: u32| if w == v { u } else { w };
                let place = |w: u32| if w == last && v != last { v } else { w };
                let contracted: Vec<_> = edges
                    .iter()
                    .map(|&(a, b)| (place(name(a)), place(name(b))))
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| (a.min(b), a.max(b)))
                    .collect();
                by_minors(n - 1, &contracted, seen)
            });
        seen.insert((n, code), free);
        free
    }

    #[test]
    fn no_minor_of_a_planar_graph_is_k5_or_k33() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut seen = std::collections::HashMap::new();
        let mut counts = [0, 0];
        for _ in 0..400 {
            let n = 5 + below(3, || random.next_u64()) as usize;
            let share = 40 + below(50, || random.next_u64());
            let edges: Vec<_> =
                complete(n as u32).into_iter().filter(|_| below(100, || random.next_u64()) < share).collect();
            let expected = by_minors(n, &edges, &mut seen);
            assert_eq!(planar(n, &edges), expected, "{n} nodes, {edges:?}");
            counts[usize::from(expected)] += 1;
        }
        assert!(counts[0] > 50 && counts[1] > 50, "{counts:?}");
    }

    #[test]
    fn known_graphs_are_planar_or_not() {
        let petersen: Vec<(u32, u32)> =
            (0..5).flat_map(|v| [(v, (v + 1) % 5), (v, v + 5), (v + 5, (v + 2) % 5 + 5)]).collect();
        let bipartite: Vec<(u32, u32)> = (0..3).flat_map(|u| (3..6).map(move |v| (u, v))).collect();
        assert!(planar(4, &complete(4)) && planar(0, &[]) && planar(3, &[(0, 0)]));
        assert!(!planar(5, &complete(5)) && !planar(6, &bipartite) && !planar(10, &petersen));
        assert!(planar(5, &complete(5)[1..]) && planar(6, &bipartite[1..]));
        let cube: Vec<(u32, u32)> =
            (0..8u32).flat_map(|v| [1, 2, 4].map(|bit| (v, v ^ bit))).filter(|(u, v)| u < v).collect();
        assert!(planar(8, &cube));
    }

    /// A grid with one diagonal a square, its nodes renamed at random: planar, and a further edge between far corners
    /// of it that crosses makes it not so.
    #[test]
    fn a_large_triangulated_grid_is_planar_until_an_edge_crosses() {
        let side = 150u32;
        let at = |x: u32, y: u32| x * side + y;
        let mut edges = Vec::new();
        for x in 0..side {
            for y in 0..side {
                if x + 1 < side {
                    edges.push((at(x, y), at(x + 1, y)));
                }
                if y + 1 < side {
                    edges.push((at(x, y), at(x, y + 1)));
                }
                if x + 1 < side && y + 1 < side {
                    edges.push((at(x, y), at(x + 1, y + 1)));
                }
            }
        }
        let mut names: Vec<u32> = (0..side * side).collect();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        bonnet_graph::random::shuffle(&mut names, || random.next_u64());
        let rename = |edges: &[(u32, u32)]| -> Vec<(u32, u32)> {
            edges.iter().map(|&(u, v)| (names[u as usize], names[v as usize])).collect()
        };
        assert!(planar((side * side) as usize, &rename(&edges)));
        edges.push((at(20, 20), at(90, 40)));
        assert!(!planar((side * side) as usize, &rename(&edges)));
    }

    #[test]
    fn forests_are_planar_and_so_are_parts_of_planar_graphs() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            if planar(n, &rows) {
                let fewer: Vec<_> = rows.iter().copied().step_by(2).collect();
                assert!(planar(n, &fewer), "graph {seed}");
            } else {
                assert!(rows.len() >= 9, "graph {seed}");
            }
        }
        let path: Vec<(u32, u32)> = (0..300_000).map(|v| (v, v + 1)).collect();
        assert!(planar(300_001, &path));
    }
}
