//! Triangles, each found once.

use std::sync::atomic::{AtomicU64, Ordering};

use bonnet_graph::{Digraph, Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::parallel::shared;

/// Nodes that a thread takes at a time.
const BLOCK: usize = 1 << 10;

/// Every edge once, from the end of smaller degree to the other, by ranks: node `order[r]` has rank `r`. No node has more
/// than `sqrt(2 m)` arcs.
pub(crate) struct ByDegree {
    order: Vec<u32>,
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

impl ByDegree {
    /// O(n + m) time; `16 n + 4 m` bytes.
    pub(crate) fn new(graph: &Graph) -> Self {
        let n = graph.n_nodes();
        let largest = (0..n as u32).map(|v| graph.degree(v)).max().unwrap_or(0);
        let mut begin = vec![0u32; largest + 2];
        (0..n as u32).for_each(|v| begin[graph.degree(v) + 1] += 1);
        for d in 0..=largest {
            begin[d + 1] += begin[d];
        }
        let mut order = vec![0u32; n];
        let mut rank = vec![0u32; n];
        for v in 0..n as u32 {
            let next = &mut begin[graph.degree(v)];
            order[*next as usize] = v;
            rank[v as usize] = *next;
            *next += 1;
        }
        let mut offsets = vec![0usize; n + 1];
        let above = |r: usize| {
            let own = r as u32;
            graph.neighbors(order[r]).iter().map(|&u| rank[u as usize]).filter(move |&other| other > own)
        };
        offsets[1..].par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(r, count)| *count = above(r).count());
        for r in 0..n {
            offsets[r + 1] += offsets[r];
        }
        let mut targets = vec![0u32; offsets[n]];
        let mut rows: Vec<&mut [u32]> = Vec::with_capacity(n);
        let mut rest = targets.as_mut_slice();
        for r in 0..n {
            let (row, after) = rest.split_at_mut(offsets[r + 1] - offsets[r]);
            rows.push(row);
            rest = after;
        }
        rows.into_par_iter().with_min_len(BLOCK).enumerate().for_each(|(r, row)| {
            row.iter_mut().zip(above(r)).for_each(|(to, target)| *to = target);
        });
        Self { order, offsets, targets }
    }

    fn of(&self, r: u32) -> &[u32] {
        &self.targets[self.offsets[r as usize]..self.offsets[r as usize + 1]]
    }

    /// The number of its arcs: of the graph's edges.
    pub(crate) fn n_arcs(&self) -> usize {
        self.targets.len()
    }

    /// Visits every triangle as its three arcs by their positions, in no order.
    pub(crate) fn for_each(
        &self,
        n: usize,
        monitor: &dyn Monitor,
        visit: impl Fn([usize; 3]) + Sync,
    ) -> Result<(), Stopped> {
        // The position of the arc to each marked node, plus 1.
        shared(
            n,
            BLOCK,
            monitor,
            || vec![0u32; n],
            |marked, ranks| {
                for r in ranks {
                    let start = self.offsets[r];
                    let own = self.of(r as u32);
                    if own.len() < 2 {
                        continue;
                    }
                    own.iter().enumerate().for_each(|(i, &s)| marked[s as usize] = i as u32 + 1);
                    for (i, &s) in own.iter().enumerate() {
                        for (j, &t) in self.of(s).iter().enumerate() {
                            let mark = marked[t as usize];
                            if mark > 0 {
                                visit([start + i, self.offsets[s as usize] + j, start + mark as usize - 1]);
                            }
                        }
                    }
                    own.iter().for_each(|&s| marked[s as usize] = 0);
                }
            },
        )?;
        Ok(())
    }

    /// For each position of [`Graph::targets`] the position of its edge here.
    pub(crate) fn edge_of_arcs(&self, graph: &Graph) -> Vec<u32> {
        let mut rank = vec![0u32; self.order.len()];
        self.order.iter().zip(0..).for_each(|(&v, r)| rank[v as usize] = r);
        let mut edges = vec![0u32; graph.targets().len()];
        for v in 0..graph.n_nodes() as u32 {
            let own = rank[v as usize];
            let mut next = self.offsets[own as usize];
            for (at, &u) in graph.neighbors(v).iter().enumerate() {
                let other = rank[u as usize];
                edges[graph.offsets()[v as usize] + at] = if other > own {
                    next += 1;
                    next as u32 - 1
                } else {
                    // Rows are in the order of the nodes' numbers.
                    let at = self.of(other).partition_point(|&s| self.order[s as usize] < v);
                    (self.offsets[other as usize] + at) as u32
                };
            }
        }
        edges
    }
}

/// The number of arcs that join two neighbours of each node, whichever way those are joined to it. `graph` is that of the arcs
/// without directions. O(m sqrt(m)) time, `16 n + 9 m` bytes and `4 n` for each thread.
///
/// # Errors
/// If the monitor stops it.
pub(crate) fn arcs_between_neighbors(
    graph: &Graph,
    arcs: &Digraph,
    monitor: &dyn Monitor,
) -> Result<Vec<u64>, Stopped> {
    let n = graph.n_nodes();
    let threads = rayon::current_num_threads().min(n.div_ceil(BLOCK).max(1));
    let _reservation = Reservation::new(monitor, 24 * n + 9 * graph.n_edges() + 4 * threads * n)?;
    let edges = ByDegree::new(graph);
    let mut begin = vec![0u32; edges.n_arcs()];
    // How many arcs an edge stands for.
    let mut both: Vec<u8> = Vec::with_capacity(edges.n_arcs());
    for r in 0..n as u32 {
        let u = edges.order[r as usize];
        begin[edges.offsets[r as usize]..edges.offsets[r as usize + 1]].fill(r);
        for &s in edges.of(r) {
            let v = edges.order[s as usize];
            let there = |a: u32, b: u32| u8::from(arcs.successors(a).binary_search(&b).is_ok());
            both.push(there(u, v) + there(v, u));
        }
    }
    let found: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
    // Sums of whole numbers: the same in any order.
    edges.for_each(n, monitor, |[rs, st, rt]| {
        let (r, s, t) = (begin[rs], edges.targets[rs], edges.targets[st]);
        for (rank, opposite) in [(r, st), (s, rt), (t, rs)] {
            found[edges.order[rank as usize] as usize].fetch_add(u64::from(both[opposite]), Ordering::Relaxed);
        }
    })?;
    Ok(found.into_iter().map(AtomicU64::into_inner).collect())
}

/// The number of triangles that each node is in.
///
/// Every node looks, from its neighbours of larger degree on, for those that it has marked (Latapy, Main-memory triangle
/// computations for very large sparse graphs, 2008, algorithm compact-forward). O(m sqrt(m)) time, `16 n + 4 m` bytes and
/// `9 n` for each thread.
///
/// # Errors
/// If the monitor stops it.
pub fn triangle_count(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u64>, Stopped> {
    let n = graph.n_nodes();
    let threads = rayon::current_num_threads().min(n.div_ceil(BLOCK).max(1));
    let _reservation = Reservation::new(monitor, 32 * n + 4 * graph.n_edges() + 9 * threads * n)?;
    let arcs = ByDegree::new(graph);
    let state = || (vec![0u64; n], vec![false; n]);
    let counts = shared(n, BLOCK, monitor, state, |(count, marked), ranks| {
        for r in ranks {
            let own = arcs.of(r as u32);
            if own.len() < 2 {
                continue;
            }
            own.iter().for_each(|&s| marked[s as usize] = true);
            let mut of_r = 0;
            for &s in own {
                let mut of_s = 0;
                for &t in arcs.of(s) {
                    if marked[t as usize] {
                        count[t as usize] += 1;
                        of_s += 1;
                    }
                }
                count[s as usize] += of_s;
                of_r += of_s;
            }
            count[r] += of_r;
            own.iter().for_each(|&s| marked[s as usize] = false);
        }
    })?;
    let mut answer = vec![0u64; n];
    for (count, _) in counts {
        arcs.order.iter().zip(count).for_each(|(&v, count)| answer[v as usize] += count);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    /// All pairs of neighbours.
    fn by_definition(graph: &Graph) -> Vec<u64> {
        let closed = |v: u32| {
            let neighbors = graph.neighbors(v);
            let pairs = neighbors.iter().flat_map(|&a| neighbors.iter().map(move |&b| (a, b)));
            pairs.filter(|&(a, b)| a < b && graph.has_edge(a, b)).count() as u64
        };
        (0..graph.n_nodes() as u32).map(closed).collect()
    }

    #[test]
    fn triangles_are_adjacent_pairs_of_neighbours() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            assert_eq!(triangle_count(&graph, &Unmonitored).unwrap(), by_definition(&graph), "graph {seed}");
        }
    }
}
