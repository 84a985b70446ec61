//! The part of a graph that a search runs in: one component, its nodes numbered from 0.

use std::borrow::Cow;

use bonnet_graph::Graph;

/// Adjacency lists of a connected undirected graph, in any order within a list.
#[derive(Debug)]
pub(super) struct Adjacency<'a> {
    offsets: Cow<'a, [usize]>,
    targets: Cow<'a, [u32]>,
}

impl<'a> Adjacency<'a> {
    /// The whole of a graph.
    pub(super) fn whole(graph: &'a Graph) -> Self {
        Self { offsets: graph.offsets().into(), targets: graph.targets().into() }
    }

    /// The subgraph on `nodes`; `place` numbers each of them by its position there. Neighbours that `keep` refuses are
    /// left out; all others lie in `nodes`.
    pub(super) fn part(graph: &Graph, nodes: &[u32], place: &[u32], keep: impl Fn(u32) -> bool) -> Self {
        let mut offsets = Vec::with_capacity(nodes.len() + 1);
        let mut targets = Vec::new();
        offsets.push(0);
        for &v in nodes {
            targets.extend(graph.neighbors(v).iter().filter(|&&y| keep(y)).map(|&y| place[y as usize]));
            offsets.push(targets.len());
        }
        Self { offsets: offsets.into(), targets: targets.into() }
    }

    /// The same graph with `order[i]` as node i.
    pub(super) fn reordered(&self, order: &[u32]) -> Adjacency<'static> {
        let mut place = vec![0u32; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let mut offsets = Vec::with_capacity(order.len() + 1);
        let mut targets = Vec::with_capacity(self.targets.len());
        offsets.push(0);
        for &old in order {
            targets.extend(self.neighbors(old).iter().map(|&y| place[y as usize]));
            offsets.push(targets.len());
        }
        Adjacency { offsets: offsets.into(), targets: targets.into() }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Twice the number of edges.
    pub(super) fn n_arcs(&self) -> usize {
        self.targets.len()
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: u32) -> usize {
        self.offsets[v as usize + 1] - self.offsets[v as usize]
    }

    #[inline(always)]
    pub(super) fn neighbors(&self, v: u32) -> &[u32] {
        &self.targets[self.offsets[v as usize]..self.offsets[v as usize + 1]]
    }

    /// Where each node's neighbours start among all targets, and where the last one's end.
    pub(super) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    pub(super) fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Runs of consecutive nodes with about `arcs` arcs each, as their boundaries.
    pub(super) fn blocks(&self, arcs: usize) -> Vec<usize> {
        let n = self.n_nodes();
        let mut bounds = vec![0];
        let mut start = 0;
        for v in 1..=n {
            // Nodes without arcs are work, too.
            if self.offsets[v] - self.offsets[start] + (v - start) >= arcs || v == n {
                bounds.push(v);
                start = v;
            }
        }
        bounds
    }
}
