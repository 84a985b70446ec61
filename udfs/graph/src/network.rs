//! A graph as algorithms read it that follow arcs or weights.

use petgraph::Directed;

use crate::{Digraph, Graph, View};

/// The arcs that leave (or enter) each node, in ascending order of the other endpoint, with their weights where they have
/// any.
#[derive(Debug, Clone, Copy)]
pub struct Links<'a> {
    offsets: &'a [usize],
    targets: &'a [u32],
    weights: Option<&'a [f64]>,
}

impl<'a> Links<'a> {
    /// The number of nodes.
    pub fn n_nodes(self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of arcs; two for each edge of an undirected graph.
    pub fn n_arcs(self) -> usize {
        self.targets.len()
    }

    /// Where the arcs of each node begin in [`Links::targets`]; `n + 1` entries.
    pub fn offsets(self) -> &'a [usize] {
        self.offsets
    }

    /// The other endpoints of all arcs, node by node.
    pub fn targets(self) -> &'a [u32] {
        self.targets
    }

    /// The weights of all arcs in the same order; `None` where each is 1.
    pub fn weights(self) -> Option<&'a [f64]> {
        self.weights
    }

    /// The other endpoints of the arcs of `v`.
    pub fn of(self, v: u32) -> &'a [u32] {
        &self.targets[self.offsets[v as usize]..self.offsets[v as usize + 1]]
    }

    /// The number of arcs of `v`.
    pub fn degree(self, v: u32) -> usize {
        self.offsets[v as usize + 1] - self.offsets[v as usize]
    }

    /// The other endpoints of the arcs of `v` with their weights.
    pub fn weighted(self, v: u32) -> impl Iterator<Item = (u32, f64)> + Clone + 'a {
        let range = self.offsets[v as usize]..self.offsets[v as usize + 1];
        range.map(move |at| (self.targets[at], self.weights.map_or(1.0, |weights| weights[at])))
    }

    /// The sum of the weights of the arcs of `v`.
    pub fn strength(self, v: u32) -> f64 {
        match self.weights {
            None => self.degree(v) as f64,
            Some(weights) => weights[self.offsets[v as usize]..self.offsets[v as usize + 1]].iter().sum(),
        }
    }
}

/// A graph, directed or not, with weights or without: no loops, no repeated arcs.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// The arcs by where they leave.
    pub out: Links<'a>,
    /// The arcs by where they arrive; the same as `out` in an undirected graph.
    pub into: Links<'a>,
    /// Whether an arc may lack its reverse.
    pub directed: bool,
}

impl<'a> Network<'a> {
    /// An undirected graph without weights.
    pub fn undirected(graph: &'a Graph) -> Self {
        let links = Links { offsets: graph.offsets(), targets: graph.targets(), weights: None };
        Self { out: links, into: links, directed: false }
    }

    /// A directed graph without weights, from its arcs and the same arcs turned round.
    pub fn directed(out: &'a Digraph, into: &'a Digraph) -> Self {
        let links = |arcs: &'a Digraph| Links { offsets: arcs.offsets(), targets: arcs.targets(), weights: None };
        Self { out: links(out), into: links(into), directed: true }
    }

    /// A directed graph without weights.
    pub fn of_arcs(graph: &'a Digraph) -> Self {
        let (offsets, targets) = graph.predecessor_lists();
        let out = Links { offsets: graph.offsets(), targets: graph.targets(), weights: None };
        Self { out, into: Links { offsets, targets, weights: None }, directed: true }
    }

    /// A graph with weights: directed with `into`, the same arcs turned round, undirected without.
    pub fn weighted(out: &'a WeightedArcs, into: Option<&'a WeightedArcs>) -> Self {
        Self { out: out.links(), into: into.unwrap_or(out).links(), directed: into.is_some() }
    }

    /// The number of nodes.
    pub fn n_nodes(self) -> usize {
        self.out.n_nodes()
    }

    /// The same arcs turned round.
    pub fn reversed(self) -> Self {
        Self { out: self.into, into: self.out, ..self }
    }

    /// The arcs without weights as petgraph's algorithms read them; both arcs of each edge of an undirected graph.
    pub fn arcs_view(self) -> View<'a, Directed> {
        let lists = |links: Links<'a>| (links.offsets, links.targets);
        View::directed(lists(self.out), lists(self.into))
    }
}

/// Weighted arcs as compressed sparse rows; each list is sorted.
///
/// Holds `8 (n + 1) + 12 m` bytes for `n` nodes and `m` arcs.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedArcs {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

/// An arc that is given twice, with different weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatedArc {
    /// The endpoints of the arc.
    pub ends: (u32, u32),
    /// Two weights of the arc.
    pub weights: (f64, f64),
}

impl WeightedArcs {
    /// The distinct arcs `(from, to, weight)` without loops. O(n + m) time.
    ///
    /// # Errors
    /// If an arc is given twice with different weights.
    ///
    /// # Panics
    /// If an endpoint is not below `n`.
    pub fn new(n: usize, arcs: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Result<Self, RepeatedArc> {
        let arcs = arcs.filter(|(from, to, _)| from != to);
        // By target first: rows then fill in ascending order, and nothing is left to sort.
        let mut by_target = vec![0usize; n + 1];
        let mut starts = vec![0usize; n + 1];
        for (from, to, _) in arcs.clone() {
            by_target[to as usize + 1] += 1;
            starts[from as usize + 1] += 1;
        }
        for v in 0..n {
            by_target[v + 1] += by_target[v];
            starts[v + 1] += starts[v];
        }
        let mut entering = vec![(0u32, 0.0f64); starts[n]];
        for (from, to, weight) in arcs {
            let next = &mut by_target[to as usize];
            entering[*next] = (from, weight);
            *next += 1;
        }
        let mut ends = starts.clone();
        let mut targets = vec![0u32; starts[n]];
        let mut weights = vec![0.0f64; starts[n]];
        let mut first = 0;
        for (to, &end) in by_target[..n].iter().enumerate() {
            for &(from, weight) in &entering[first..end] {
                let at = ends[from as usize];
                if at > starts[from as usize] && targets[at - 1] == to as u32 {
                    if weights[at - 1] != weight {
                        return Err(RepeatedArc { ends: (from, to as u32), weights: (weights[at - 1], weight) });
                    }
                    continue;
                }
                (targets[at], weights[at]) = (to as u32, weight);
                ends[from as usize] = at + 1;
            }
            first = end;
        }
        let mut kept = 0;
        for v in 0..n {
            let (start, end) = (starts[v], ends[v]);
            starts[v] = kept;
            targets.copy_within(start..end, kept);
            weights.copy_within(start..end, kept);
            kept += end - start;
        }
        starts[n] = kept;
        targets.truncate(kept);
        weights.truncate(kept);
        Ok(Self { offsets: starts, targets, weights })
    }

    /// The same arcs turned round. O(n + m).
    pub fn reversed(&self) -> Self {
        let links = self.links();
        let mut offsets = vec![0usize; self.offsets.len()];
        for &to in &self.targets {
            offsets[to as usize + 1] += 1;
        }
        for v in 1..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        let mut ends = offsets.clone();
        let mut targets = vec![0u32; self.targets.len()];
        let mut weights = vec![0.0f64; self.weights.len()];
        // Rows fill in ascending order.
        for from in 0..links.n_nodes() as u32 {
            for (to, weight) in links.weighted(from) {
                let end = &mut ends[to as usize];
                (targets[*end], weights[*end]) = (from, weight);
                *end += 1;
            }
        }
        Self { offsets, targets, weights }
    }

    /// The bytes that it holds.
    pub fn resident_bytes(&self) -> usize {
        8 * self.offsets.len() + 12 * self.targets.len()
    }

    /// The arcs by where they leave.
    pub fn links(&self) -> Links<'_> {
        Links { offsets: &self.offsets, targets: &self.targets, weights: Some(&self.weights) }
    }

    /// The bytes that building `arcs` arcs takes, for asking before.
    pub fn bytes(n_nodes: usize, arcs: usize) -> usize {
        24 * (n_nodes + 1) + 28 * arcs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_arcs_are_sorted_and_distinct() {
        let arcs = [(1, 0, 2.0), (0, 2, 0.5), (0, 1, 3.0), (1, 1, 9.0), (0, 2, 0.5)];
        let arcs = WeightedArcs::new(3, arcs.into_iter()).unwrap();
        assert_eq!(arcs.links().weighted(0).collect::<Vec<_>>(), [(1, 3.0), (2, 0.5)]);
        assert_eq!(arcs.links().strength(0), 3.5);
        assert_eq!(arcs.links().degree(1), 1);
        assert_eq!(arcs.reversed().links().weighted(2).collect::<Vec<_>>(), [(0, 0.5)]);
        assert!(Network::weighted(&arcs, Some(&arcs.reversed())).directed);
    }

    #[test]
    fn an_arc_with_two_weights_is_an_error() {
        let error = WeightedArcs::new(2, [(0, 1, 1.0), (0, 1, 2.0)].into_iter()).unwrap_err();
        assert_eq!(error, RepeatedArc { ends: (0, 1), weights: (1.0, 2.0) });
    }
}
