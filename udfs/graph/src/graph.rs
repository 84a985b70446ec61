//! The two graphs that every kernel works on, stored as compressed sparse rows.

use std::sync::OnceLock;

use crate::targets::Targets;

/// An undirected simple graph: no loops, no repeated edges; each adjacency list is sorted.
///
/// Holds `8 (n + 1) + 8 m` bytes for `n` nodes and `m` edges, or `8 (n + 1)` and a mapped file ([`EdgeFile`](crate::EdgeFile)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    rows: CompressedRows,
}

impl Graph {
    /// The simple graph on `n` nodes under a list of edges: direction is ignored, repeats count once, loops are
    /// dropped. O(n + m) time.
    ///
    /// # Panics
    /// If an endpoint is not below `n`.
    pub fn from_edges(n: usize, edges: &[(u32, u32)]) -> Self {
        let both = edges.iter().filter(|(u, v)| u != v).flat_map(|&(u, v)| [(u, v), (v, u)]);
        Self { rows: CompressedRows::from_arcs(n, both) }
    }

    /// The graph of sorted lists without loops and repeats, both directions of each edge.
    pub(crate) fn of_rows(offsets: Vec<usize>, targets: Targets) -> Self {
        Self { rows: CompressedRows { offsets, targets } }
    }

    /// The number of nodes.
    #[inline]
    pub fn n_nodes(&self) -> usize {
        self.rows.offsets.len() - 1
    }

    /// The number of undirected edges.
    #[inline]
    pub fn n_edges(&self) -> usize {
        self.rows.targets.len() / 2
    }

    /// The number of neighbours of `v`.
    #[inline]
    pub fn degree(&self, v: u32) -> usize {
        self.neighbors(v).len()
    }

    /// The neighbours of `v` in ascending order.
    #[inline]
    pub fn neighbors(&self, v: u32) -> &[u32] {
        self.rows.row(v)
    }

    /// Whether `u` and `v` are adjacent. O(log degree).
    pub fn has_edge(&self, u: u32, v: u32) -> bool {
        self.neighbors(u).binary_search(&v).is_ok()
    }

    /// Every edge once, as `(u, v)` with `u < v`, in ascending order.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.n_nodes() as u32).flat_map(|u| self.neighbors(u).iter().filter(move |&&v| u < v).map(move |&v| (u, v)))
    }

    /// Where each node's adjacency list starts in [`Graph::targets`]; `n + 1` entries.
    #[inline]
    pub fn offsets(&self) -> &[usize] {
        &self.rows.offsets
    }

    /// All adjacency lists, one after the other; `2 m` entries.
    #[inline]
    pub fn targets(&self) -> &[u32] {
        &self.rows.targets
    }

    /// The bytes that building a graph of this size takes, for asking before: twice what it holds then.
    pub fn bytes(n_nodes: usize, n_edges: usize) -> usize {
        CompressedRows::bytes(n_nodes, 2 * n_edges)
    }

    /// The bytes that it holds in memory.
    pub fn resident_bytes(&self) -> usize {
        let targets = if let Targets::Memory(targets) = &self.rows.targets { 4 * targets.len() } else { 0 };
        8 * (self.n_nodes() + 1) + targets
    }
}

/// A directed graph: arcs as given, repeats counted once, loops kept only if asked for; each list is sorted.
///
/// Holds `8 (n + 1) + 4 m` bytes for `n` nodes and `m` arcs, and as much again once predecessors are asked for.
#[derive(Debug, Clone)]
pub struct Digraph {
    rows: CompressedRows,
    /// By target; made when it is first asked for.
    predecessors: OnceLock<CompressedRows>,
}

impl PartialEq for Digraph {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Digraph {}

impl Digraph {
    /// The distinct arcs `(from, to)` without loops. O(n + m) time.
    ///
    /// # Panics
    /// If an endpoint is not below `n`.
    pub fn from_arcs(n: usize, arcs: &[(u32, u32)]) -> Self {
        Self::new(CompressedRows::from_arcs(n, arcs.iter().copied().filter(|(u, v)| u != v)))
    }

    /// The distinct arcs `(from, to)`, loops included.
    ///
    /// # Panics
    /// If an endpoint is not below `n`.
    pub fn with_loops(n: usize, arcs: &[(u32, u32)]) -> Self {
        Self::new(CompressedRows::from_arcs(n, arcs.iter().copied()))
    }

    fn new(rows: CompressedRows) -> Self {
        Self { rows, predecessors: OnceLock::new() }
    }

    /// The number of nodes.
    #[inline]
    pub fn n_nodes(&self) -> usize {
        self.rows.offsets.len() - 1
    }

    /// The number of arcs.
    pub fn n_arcs(&self) -> usize {
        self.rows.targets.len()
    }

    /// The targets of the arcs that leave `v`, in ascending order.
    #[inline]
    pub fn successors(&self, v: u32) -> &[u32] {
        self.rows.row(v)
    }

    /// Where the successors of each node start in [`Digraph::targets`]; `n + 1` entries. The position of an arc there is its
    /// number.
    #[inline]
    pub fn offsets(&self) -> &[usize] {
        &self.rows.offsets
    }

    /// The successors of all nodes, one list after the other.
    #[inline]
    pub fn targets(&self) -> &[u32] {
        &self.rows.targets
    }

    /// The sources of the arcs that enter `v`, in ascending order. The first call of all makes the lists, O(n + m).
    pub fn predecessors(&self, v: u32) -> &[u32] {
        self.by_target().row(v)
    }

    /// Where the predecessors of each node start, and the predecessors of all nodes, one list after the other. The first call
    /// of all makes the lists, O(n + m).
    pub fn predecessor_lists(&self) -> (&[usize], &[u32]) {
        let rows = self.by_target();
        (&rows.offsets, &rows.targets)
    }

    fn by_target(&self) -> &CompressedRows {
        self.predecessors.get_or_init(|| CompressedRows::from_arcs(self.n_nodes(), self.arcs().map(|(u, v)| (v, u))))
    }

    /// The bytes that it holds with its predecessors.
    pub fn resident_bytes(&self) -> usize {
        16 * (self.n_nodes() + 1) + 8 * self.n_arcs()
    }

    /// The bytes that building a digraph of this size with its predecessors takes, for asking before.
    pub fn bytes(n_nodes: usize, n_arcs: usize) -> usize {
        2 * CompressedRows::bytes(n_nodes, n_arcs)
    }

    /// Every arc as `(from, to)`, in ascending order.
    pub fn arcs(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.n_nodes() as u32).flat_map(|u| self.successors(u).iter().map(move |&v| (u, v)))
    }

    /// The same arcs turned round. O(n + m).
    pub fn reversed(&self) -> Self {
        Self::new(CompressedRows::from_arcs(self.n_nodes(), self.arcs().map(|(u, v)| (v, u))))
    }
}

/// Compressed sparse rows: the sorted, distinct targets of every source.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompressedRows {
    offsets: Vec<usize>,
    targets: Targets,
}

impl CompressedRows {
    fn from_arcs(n: usize, arcs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        // By target first: rows then fill in ascending order, and nothing is left to sort.
        let mut by_target = vec![0usize; n + 1];
        let mut offsets = vec![0usize; n + 1];
        arcs.clone().for_each(|(from, to)| {
            assert!((to as usize) < n, "node {to} in a graph of {n} nodes");
            by_target[to as usize + 1] += 1;
            offsets[from as usize + 1] += 1;
        });
        for v in 0..n {
            by_target[v + 1] += by_target[v];
            offsets[v + 1] += offsets[v];
        }
        let mut sources = vec![0u32; offsets[n]];
        arcs.for_each(|(from, to)| {
            let next = &mut by_target[to as usize];
            sources[*next] = from;
            *next += 1;
        });
        // What was the start of a target's sources is their end now.
        let mut ends = offsets.clone();
        let mut targets = vec![0u32; offsets[n]];
        let mut start = 0;
        for (to, &end) in by_target[..n].iter().enumerate() {
            for &from in &sources[start..end] {
                let from = from as usize;
                let at = ends[from];
                let repeated = at > offsets[from] && targets[at - 1] == to as u32;
                targets[at] = to as u32;
                ends[from] = at + usize::from(!repeated);
            }
            start = end;
        }
        drop((sources, by_target));
        let mut kept = 0;
        for v in 0..n {
            let (start, end) = (offsets[v], ends[v]);
            offsets[v] = kept;
            targets.copy_within(start..end, kept);
            kept += end - start;
        }
        offsets[n] = kept;
        targets.truncate(kept);
        targets.shrink_to_fit();
        Self { offsets, targets: Targets::Memory(targets) }
    }

    #[inline]
    fn row(&self, v: u32) -> &[u32] {
        &self.targets[self.offsets[v as usize]..self.offsets[v as usize + 1]]
    }

    fn bytes(n: usize, arcs: usize) -> usize {
        2 * ((n + 1) * size_of::<usize>() + arcs * size_of::<u32>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_repeats_and_loops_are_ignored() {
        let graph = Graph::from_edges(4, &[(1, 0), (0, 1), (2, 2), (1, 2), (1, 2)]);
        assert_eq!((graph.n_nodes(), graph.n_edges()), (4, 2));
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(graph.neighbors(1), [0, 2]);
        assert_eq!(graph.degree(3), 0);
        assert!(graph.has_edge(2, 1) && !graph.has_edge(0, 2));
    }

    #[test]
    fn arcs_keep_their_direction_and_reverse() {
        let arcs = [(0, 1), (0, 1), (1, 0), (2, 0), (1, 1)];
        let graph = Digraph::from_arcs(3, &arcs);
        assert_eq!(graph.arcs().collect::<Vec<_>>(), [(0, 1), (1, 0), (2, 0)]);
        assert_eq!(graph.reversed().successors(0), [1, 2]);
        assert_eq!((graph.predecessors(0), graph.predecessors(2)), (&[1, 2][..], &[][..]));
        assert_eq!(Digraph::with_loops(3, &arcs).successors(1), [0, 1]);
    }

    #[test]
    fn an_empty_graph_is_a_graph() {
        let graph = Graph::from_edges(0, &[]);
        assert_eq!((graph.n_nodes(), graph.n_edges(), graph.edges().count()), (0, 0, 0));
    }

    #[test]
    #[should_panic(expected = "node 5 in a graph of 2 nodes")]
    fn an_endpoint_outside_the_graph_panics() {
        Digraph::from_arcs(2, &[(0, 5)]);
    }
}
