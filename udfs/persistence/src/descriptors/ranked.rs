//! A graph with its nodes renumbered by degree, and its triangles.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use bonnet_graph::{Graph, Monitor, Stopped};

use super::blocks::for_each_block;

/// Steps between two checks of the monitor.
pub(super) const STEPS: usize = 1 << 18;

/// A graph whose nodes are numbered by rising degree: a node has O(sqrt m) neighbours of higher number, so that its
/// triangles are listed in O(m^1.5) (Chiba and Nishizeki 1985).
pub(super) struct Ranked {
    pub graph: Graph,
    /// The node of each rank.
    pub node: Vec<u32>,
    /// Where the neighbours of higher rank start in the adjacency list of each rank.
    starts: Vec<usize>,
}

impl Ranked {
    /// O(n log n + m log d) time; 8 (n + m) + 16 n bytes stay.
    pub fn new(graph: &Graph) -> Self {
        let mut node: Vec<u32> = (0..graph.n_nodes() as u32).collect();
        node.sort_by_key(|&v| (graph.degree(v), v));
        let mut rank = vec![0u32; node.len()];
        node.iter().zip(0..).for_each(|(&v, position)| rank[v as usize] = position);
        let edges: Vec<(u32, u32)> = graph.edges().map(|(u, v)| (rank[u as usize], rank[v as usize])).collect();
        let graph = Graph::from_edges(node.len(), &edges);
        let starts = (0..node.len() as u32)
            .map(|u| graph.offsets()[u as usize] + graph.neighbors(u).partition_point(|&v| v < u))
            .collect();
        Self { graph, node, starts }
    }

    /// The bytes that the ranks of a graph of this size hold while they are made.
    pub fn bytes(n: usize, m: usize) -> usize {
        Graph::bytes(n, m) + 32 * n + 8 * m
    }

    /// The slots of the neighbours of higher rank among [`Graph::targets`]: the number of an edge is the slot at its
    /// end of lower rank.
    pub fn later(&self, u: u32) -> Range<usize> {
        self.starts[u as usize]..self.graph.offsets()[u as usize + 1]
    }

    /// About how many steps it takes to list the triangles.
    pub fn work(&self) -> usize {
        let later = |u: u32| self.later(u).len();
        (0..self.graph.n_nodes() as u32)
            .map(|u| self.graph.targets()[self.later(u)].iter().map(|&v| 1 + later(v)).sum::<usize>())
            .sum()
    }

    /// Calls `triangle` with u and the slots of the edges uv, uw, vw of each triangle u < v < w, and `pair` with u and the
    /// slot of uv after all triangles of that edge with larger w. Each thread has scratch of its own.
    pub fn triangles<S>(
        &self,
        monitor: &dyn Monitor,
        scratch: impl Fn() -> S + Send + Sync,
        triangle: impl Fn(&mut S, u32, [usize; 3]) + Send + Sync,
        pair: impl Fn(&mut S, u32, usize) + Send + Sync,
    ) -> Result<(), Stopped> {
        let n = self.graph.n_nodes();
        let targets = self.graph.targets();
        // The slot of the edge from the current u, plus one.
        let marked = || (vec![0usize; n], scratch());
        for_each_block(n, self.work(), marked, |(mark, scratch), block| {
            let mut steps = 0;
            for u in block {
                let u = u as u32;
                self.later(u).for_each(|slot| mark[targets[slot] as usize] = slot + 1);
                for uv in self.later(u) {
                    let v = targets[uv];
                    for vw in self.later(v) {
                        let uw = mark[targets[vw] as usize];
                        if uw != 0 {
                            triangle(scratch, u, [uv, uw - 1, vw]);
                        }
                    }
                    pair(scratch, u, uv);
                    steps += 1 + self.later(v).len();
                    if steps >= STEPS {
                        steps = 0;
                        monitor.check()?;
                    }
                }
                self.later(u).for_each(|slot| mark[targets[slot] as usize] = 0);
            }
            Ok(())
        })
    }

    /// The triangles of each edge, by its slot.
    pub fn edge_triangles(&self, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
        let counts: Vec<AtomicU32> = self.graph.targets().iter().map(|_| AtomicU32::new(0)).collect();
        let count = |_: &mut (), _: u32, edges: [usize; 3]| {
            for edge in edges {
                counts[edge].fetch_add(1, Ordering::Relaxed);
            }
        };
        self.triangles(monitor, || (), count, |_, _, _| ())?;
        Ok(counts.into_iter().map(AtomicU32::into_inner).collect())
    }

    /// The triangles of each node, by rank, from those of the edges.
    pub fn node_triangles(&self, edge_triangles: &[u32]) -> Vec<u64> {
        let mut twice = vec![0u64; self.graph.n_nodes()];
        for u in 0..self.graph.n_nodes() as u32 {
            for slot in self.later(u) {
                twice[u as usize] += u64::from(edge_triangles[slot]);
                twice[self.graph.targets()[slot] as usize] += u64::from(edge_triangles[slot]);
            }
        }
        twice.into_iter().map(|twice| twice / 2).collect()
    }
}
