//! Matchings with the most edges.

use bonnet_graph::{Graph, Monitor, Reservation, Steps, Stopped};

const NONE: u32 = u32::MAX;

/// The partner of each node in a matching with the most edges; `None` for a node left alone. One of the largest, the
/// same each time.
///
/// Ours: petgraph's `maximum_matching` recurses as deep as its paths are long, which a long path graph overflows.
/// Edmonds, Paths, trees, and flowers (1965), with blossoms in a union-find and Hungarian trees left out of later
/// searches; begun by matching greedily. O(n m) time at worst (times the inverse Ackermann function), O(n) memory.
///
/// # Errors
/// If the monitor stops it.
pub fn maximum_matching(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<Option<u32>>, Stopped> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 34 * n)?;
    let mut search = Search {
        graph,
        mate: vec![NONE; n],
        before: vec![NONE; n],
        base: (0..n as u32).collect(),
        label: vec![Label::Free; n],
        stamp: vec![0; n],
        stamps: 0,
        queue: Vec::new(),
        touched: Vec::new(),
    };
    for v in 0..n as u32 {
        if search.mate[v as usize] == NONE
            && let Some(&w) = graph.neighbors(v).iter().find(|&&w| search.mate[w as usize] == NONE)
        {
            (search.mate[v as usize], search.mate[w as usize]) = (w, v);
        }
    }
    let mut steps = Steps::new(monitor, n);
    for root in 0..n as u32 {
        if search.mate[root as usize] == NONE {
            steps.reach(root as usize);
            search.augment(root, monitor)?;
        }
    }
    Ok(search.mate.into_iter().map(|mate| (mate != NONE).then_some(mate)).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    /// Not in the tree.
    Free,
    /// At an even distance from the root.
    Outer,
    /// At an odd distance.
    Inner,
}

/// A search for a path from a node without a partner to another, along edges in and out of the matching by turns.
struct Search<'a> {
    graph: &'a Graph,
    mate: Vec<u32>,
    /// The node before an inner one on its way to the root; within blossoms, the way round.
    before: Vec<u32>,
    /// Links towards the base of the blossom that a node is in.
    base: Vec<u32>,
    label: Vec<Label>,
    stamp: Vec<u32>,
    stamps: u32,
    queue: Vec<u32>,
    touched: Vec<u32>,
}

impl Search<'_> {
    fn augment(&mut self, root: u32, monitor: &dyn Monitor) -> Result<(), Stopped> {
        self.queue.clear();
        self.touched.clear();
        self.set(root, Label::Outer);
        self.queue.push(root);
        let mut head = 0;
        while let Some(&u) = self.queue.get(head) {
            if head.is_multiple_of(256) {
                monitor.check()?;
            }
            head += 1;
            for &v in self.graph.neighbors(u) {
                if self.label[v as usize] == Label::Inner || self.find(u) == self.find(v) {
                    continue;
                }
                if self.label[v as usize] == Label::Outer {
                    let base = self.common_base(u, v);
                    self.shrink(u, v, base);
                    self.shrink(v, u, base);
                    continue;
                }
                self.set(v, Label::Inner);
                self.before[v as usize] = u;
                let mate = self.mate[v as usize];
                if mate == NONE {
                    self.turn_over(v);
                    self.forget();
                    return Ok(());
                }
                self.set(mate, Label::Outer);
                self.queue.push(mate);
            }
        }
        // A Hungarian tree: no path of a later search leads through it, so its labels stay.
        Ok(())
    }

    fn set(&mut self, v: u32, label: Label) {
        self.label[v as usize] = label;
        self.touched.push(v);
    }

    fn forget(&mut self) {
        for &v in &self.touched {
            self.label[v as usize] = Label::Free;
            self.base[v as usize] = v;
        }
    }

    /// The base of the blossom of `v`; halves the way to it.
    fn find(&mut self, mut v: u32) -> u32 {
        while self.base[v as usize] != v {
            let next = self.base[self.base[v as usize] as usize];
            self.base[v as usize] = next;
            v = next;
        }
        v
    }

    /// The first base that the ways of two outer nodes to the root share.
    fn common_base(&mut self, mut u: u32, mut v: u32) -> u32 {
        self.stamps += 1;
        loop {
            if u != NONE {
                u = self.find(u);
                if std::mem::replace(&mut self.stamp[u as usize], self.stamps) == self.stamps {
                    return u;
                }
                u = match self.mate[u as usize] {
                    NONE => NONE,
                    mate => self.before[mate as usize],
                };
            }
            std::mem::swap(&mut u, &mut v);
        }
    }

    /// Makes the way from `u` to `base` part of the blossom that the edge from `u` to `v` closes.
    fn shrink(&mut self, mut u: u32, mut v: u32, base: u32) {
        while self.find(u) != base {
            self.before[u as usize] = v;
            v = self.mate[u as usize];
            if self.label[v as usize] == Label::Inner {
                self.label[v as usize] = Label::Outer;
                self.queue.push(v);
            }
            for inside in [u, v] {
                if self.base[inside as usize] == inside {
                    self.base[inside as usize] = base;
                }
            }
            u = self.before[v as usize];
        }
    }

    /// Takes the edges on the way from `v` to the root into the matching, and out of it, by turns.
    fn turn_over(&mut self, mut v: u32) {
        while v != NONE {
            let u = self.before[v as usize];
            let next = self.mate[u as usize];
            (self.mate[v as usize], self.mate[u as usize]) = (u, v);
            v = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;
    use bonnet_graph::petgraph::algo::maximum_matching as theirs;

    /// The most edges without a common node, by trying all.
    fn most(edges: &[(u32, u32)], used: u32) -> usize {
        let Some((&(u, v), rest)) = edges.split_first() else { return 0 };
        let without = most(rest, used);
        match used >> u & 1 == 0 && used >> v & 1 == 0 {
            true => without.max(1 + most(rest, used | 1 << u | 1 << v)),
            false => without,
        }
    }

    fn size(graph: &Graph, what: &str) -> usize {
        let mate = maximum_matching(graph, &Unmonitored).unwrap();
        for (v, mate_of_v) in mate.iter().enumerate() {
            if let Some(w) = *mate_of_v {
                assert!(graph.has_edge(v as u32, w) && mate[w as usize] == Some(v as u32), "{what}");
            }
        }
        mate.iter().flatten().count() / 2
    }

    #[test]
    fn no_matching_has_more_edges() {
        for seed in 0..300 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            assert_eq!(size(&graph, "all"), theirs(&graph).len(), "graph {seed}");
            let small: Vec<_> = graph.edges().filter(|&(_, v)| v < 8).take(20).collect();
            assert_eq!(size(&Graph::from_edges(8, &small), "small"), most(&small, 0), "graph {seed}");
        }
    }

    #[test]
    fn blossoms_within_blossoms_are_found() {
        // Random cubic-like graphs of odd cycles, against petgraph.
        for seed in 0..200u32 {
            let n = 30 + seed % 7;
            let step = 3 + seed % 5;
            let edges: Vec<(u32, u32)> = (0..n)
                .flat_map(|v| [(v, (v + 1) % n), (v, (v * step + seed) % n)])
                .filter(|(u, v)| u != v && (u * 31 + v * 17 + seed) % 4 != 0)
                .collect();
            let graph = Graph::from_edges(n as usize, &edges);
            assert_eq!(size(&graph, "cycles"), theirs(&graph).len(), "graph {seed}");
        }
    }

    #[test]
    fn a_long_path_does_not_exhaust_the_stack() {
        let edges: Vec<(u32, u32)> = (0..300_000).map(|v| (v, v + 1)).collect();
        assert_eq!(size(&Graph::from_edges(300_001, &edges), "path"), 150_000);
    }
}
