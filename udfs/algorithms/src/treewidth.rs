//! Upper bounds of the treewidth.

use std::collections::BTreeSet;

use bonnet_graph::{Graph, Monitor, Reservation, Steps, Stopped};

/// Which node is taken away next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Elimination {
    /// The node with the fewest neighbours left.
    #[default]
    MinDegree,
    /// The node whose neighbours lack the fewest edges among them.
    MinFill,
}

/// An upper bound of the treewidth: nodes are taken away one after the other, the smallest first of those that do, and
/// each time the neighbours left are all joined; the most neighbours that a node had is the width of a tree
/// decomposition. 0 for a graph without edges. Exact for trees, cycles and complete graphs; with `MinFill` for all
/// chordal graphs.
///
/// Ours (petgraph has none): Bodlaender and Koster, Treewidth computations I. Upper bounds (2010), section 3. O(n w^2
/// log n) for width w with `MinDegree`; `MinFill` counts missing edges anew around each node taken, O(w^4) at worst.
/// Memory O(n + m + n w) at worst.
///
/// # Errors
/// If the monitor stops it.
pub fn treewidth_upper_bound(graph: &Graph, by: Elimination, monitor: &dyn Monitor) -> Result<usize, Stopped> {
    let n = graph.n_nodes();
    let mut reservation = Reservation::new(monitor, 64 * n + 8 * graph.n_edges())?;
    let mut lists = Lists::new(graph);
    // A node has its cost, then is taken away.
    let mut steps = Steps::new(monitor, 2 * n);
    let mut costs = vec![0; n];
    let mut order = BTreeSet::new();
    for v in 0..n as u32 {
        if v.is_multiple_of(256) {
            monitor.check()?;
            steps.reach(v as usize);
        }
        costs[v as usize] = lists.cost(v, by);
        order.insert((costs[v as usize], v));
    }
    let mut width = 0;
    let mut left = n;
    while let Some((_, v)) = order.pop_first() {
        monitor.check()?;
        steps.reach(2 * n - left);
        let around = lists.take(v);
        width = width.max(around.len());
        left -= 1;
        // No node of the rest has more neighbours than there are others.
        if left <= width + 1 {
            break;
        }
        let mut added = 0;
        for &u in &around {
            added += lists.join(u, &around);
        }
        reservation.grow(8 * added)?;
        let mut changed = around.clone();
        if by == Elimination::MinFill && added > 0 {
            // A node that has two of them for neighbours lacks fewer edges now.
            for &u in &around {
                changed.extend(lists.of(u));
            }
            changed.sort_unstable();
            changed.dedup();
        }
        for (at, &u) in changed.iter().enumerate() {
            if at.is_multiple_of(64) {
                monitor.check()?;
            }
            order.remove(&(costs[u as usize], u));
            costs[u as usize] = match by {
                // The others around it were joined to the node already: it lacked edges to the rest alone.
                Elimination::MinFill if added == 0 => costs[u as usize] - (lists.degree[u as usize] + 1 - around.len()),
                _ => lists.cost(u, by),
            };
            order.insert((costs[u as usize], u));
        }
    }
    Ok(width)
}

/// How many times longer than another a list is that is searched for the other's members, not read beside it.
const LONGER: usize = 8;

/// The neighbours of each node that is left, in ascending order. A list may still have nodes that are taken away: to leave them
/// out of a long list each time would be quadratic.
struct Lists {
    lists: Vec<Vec<u32>>,
    /// The number of neighbours that are left.
    degree: Vec<usize>,
    taken: Vec<bool>,
}

impl Lists {
    fn new(graph: &Graph) -> Self {
        let nodes = 0..graph.n_nodes() as u32;
        Self {
            lists: nodes.clone().map(|v| graph.neighbors(v).to_vec()).collect(),
            degree: nodes.map(|v| graph.degree(v)).collect(),
            taken: vec![false; graph.n_nodes()],
        }
    }

    /// The neighbours of a node that are left.
    fn of(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        self.lists[v as usize].iter().copied().filter(|&u| !self.taken[u as usize])
    }

    /// Takes a node away, and gives its neighbours.
    fn take(&mut self, v: u32) -> Vec<u32> {
        let around: Vec<u32> = self.of(v).collect();
        self.lists[v as usize] = Vec::new();
        self.taken[v as usize] = true;
        around.iter().for_each(|&u| self.degree[u as usize] -= 1);
        around
    }

    /// Joins `u` to the others of an ascending list, of which it is one; gives how many neighbours it has more.
    fn join(&mut self, u: u32, around: &[u32]) -> usize {
        let (list, degree) = (&self.lists[u as usize], self.degree[u as usize]);
        let joined =
            list.len() > LONGER * around.len() && around.iter().all(|w| *w == u || list.binary_search(w).is_ok());
        if joined && list.len() <= 2 * degree {
            return 0;
        }
        let all = if joined { self.of(u).collect() } else { union(list, around, u, &self.taken) };
        self.degree[u as usize] = all.len();
        self.lists[u as usize] = all;
        self.degree[u as usize] - degree
    }

    fn cost(&self, v: u32, by: Elimination) -> usize {
        match by {
            Elimination::MinDegree => self.degree[v as usize],
            Elimination::MinFill => self.missing(v),
        }
    }

    /// The edges that the neighbours of `v` lack among them.
    fn missing(&self, v: u32) -> usize {
        let around: Vec<u32> = self.of(v).collect();
        let pairs = around.len() * around.len().saturating_sub(1) / 2;
        if pairs == 0 {
            return 0;
        }
        let there = around.iter().map(|&u| shared(&self.lists[u as usize], &around)).sum::<usize>();
        pairs - there / 2
    }
}

/// The size of the intersection of two ascending lists.
fn shared(a: &[u32], b: &[u32]) -> usize {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if long.len() > LONGER * short.len() {
        return short.iter().filter(|x| long.binary_search(x).is_ok()).count();
    }
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        count += usize::from(a[i] == b[j]);
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    count
}

/// The members of two ascending lists without `u` and those that are taken.
fn union(a: &[u32], b: &[u32], u: u32, taken: &[bool]) -> Vec<u32> {
    let (mut i, mut j) = (0, 0);
    let mut all = Vec::with_capacity(a.len() + b.len());
    while i < a.len() || j < b.len() {
        let x = a.get(i).copied().unwrap_or(u32::MAX);
        let y = b.get(j).copied().unwrap_or(u32::MAX);
        i += usize::from(x <= y && i < a.len());
        j += usize::from(y <= x && j < b.len());
        let next = x.min(y);
        if next != u && !taken[next as usize] {
            all.push(next);
        }
    }
    all.shrink_to_fit();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    #[test]
    fn many_leaves_at_one_node_are_taken_one_by_one_in_no_time() {
        // A hub with 30,000 leaves, and as many paths of two nodes back to it: the width is 2. Quadratic, it would take a minute.
        let leaves = 30_000u32;
        let edges =
            (1..=3 * leaves).map(|v| (0, v)).chain((0..leaves).map(|i| (leaves + 2 * i + 1, leaves + 2 * i + 2)));
        let graph = Graph::from_edges(3 * leaves as usize + 1, &edges.collect::<Vec<_>>());
        let start = std::time::Instant::now();
        for by in BOTH {
            assert_eq!(bound(&graph, by), 2);
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    const BOTH: [Elimination; 2] = [Elimination::MinDegree, Elimination::MinFill];

    fn bound(graph: &Graph, by: Elimination) -> usize {
        treewidth_upper_bound(graph, by, &Unmonitored).unwrap()
    }

    /// The treewidth over all orders of elimination, by sets of nodes taken (Bodlaender and others, 2012): taking `v`
    /// after a set costs the nodes outside that paths through the set lead to.
    fn treewidth(graph: &Graph) -> usize {
        let n = graph.n_nodes();
        let mut best = vec![usize::MAX; 1 << n];
        best[0] = 0;
        for taken in 0..1usize << n {
            for v in (0..n).filter(|v| taken >> v & 1 == 0) {
                let (mut seen, mut stack, mut around) = (1usize << v, vec![v as u32], 0);
                while let Some(u) = stack.pop() {
                    for &w in graph.neighbors(u) {
                        if seen >> w & 1 == 0 {
                            seen |= 1 << w;
                            if taken >> w & 1 == 1 {
                                stack.push(w);
                            } else {
                                around += 1;
                            }
                        }
                    }
                }
                let through = best[taken].max(around);
                let next = &mut best[taken | 1 << v];
                *next = (*next).min(through);
            }
        }
        best[(1 << n) - 1]
    }

    #[test]
    fn bounds_are_bounds_and_mostly_exact() {
        let (mut exact, mut all) = (0, 0);
        for seed in 0..300 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.min(8);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let graph = Graph::from_edges(n, &rows);
            let expected = treewidth(&graph);
            for by in BOTH {
                let found = bound(&graph, by);
                assert!(found >= expected, "graph {seed}: {found} below {expected}");
                exact += usize::from(found == expected);
                all += 1;
            }
        }
        assert!(exact * 100 >= all * 98, "{exact} of {all}");
    }

    #[test]
    fn trees_cycles_grids_and_chordal_graphs_have_their_widths() {
        let path: Vec<(u32, u32)> = (0..999).map(|v| (v / 2, v + 1)).collect();
        let cycle: Vec<(u32, u32)> = (0..1000).map(|v| (v, (v + 1) % 1000)).collect();
        let complete: Vec<(u32, u32)> = (0..9u32).flat_map(|u| (0..u).map(move |v| (v, u))).collect();
        // Each node is joined to the four before it, which are all joined: chordal, with cliques of five.
        let chordal: Vec<(u32, u32)> =
            (1..500u32).flat_map(|v| (v.saturating_sub(4)..v).map(move |u| (u, v))).collect();
        for by in BOTH {
            assert_eq!(bound(&Graph::from_edges(1000, &path), by), 1);
            assert_eq!(bound(&Graph::from_edges(1000, &cycle), by), 2);
            assert_eq!(bound(&Graph::from_edges(9, &complete), by), 8);
            assert_eq!(bound(&Graph::from_edges(500, &chordal), by), 4);
            assert_eq!((bound(&Graph::from_edges(3, &[]), by), bound(&Graph::from_edges(0, &[]), by)), (0, 0));
        }
    }
}
