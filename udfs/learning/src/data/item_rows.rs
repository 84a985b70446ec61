//! Items that are nodes of a typed graph at a time, and the graph as it was at any time.

use std::collections::HashMap;
use std::sync::Arc;

use bonnet_graph::Graph;

use super::{Features, GraphTypes};
use crate::ground::DataError;

/// The time of a node that was always there.
pub const ALWAYS: i64 = i64::MIN;

/// The time of an item that sees every node.
pub const NEVER: i64 = i64::MAX;

/// A node at a time, from which its neighbourhood is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedItem {
    /// What the draw hangs on beside the key: the same number gives the same neighbourhood, whatever items are beside it.
    pub number: u64,
    /// The node.
    pub node: u32,
    /// Nodes with a later time are not there.
    pub time: i64,
}

/// A typed graph with the features of each type, and the times at which its nodes and edges came.
#[derive(Debug, Clone)]
pub struct TimedGraph {
    pub(crate) graph: Arc<Graph>,
    pub(crate) types: Arc<GraphTypes>,
    /// The features of each type's nodes, ascending; [`Features::None`] for a type without.
    pub(crate) blocks: Arc<[Features]>,
    /// Whether a feature that a row leaves out is 0, as in lists, and not missing, as in maps.
    pub(crate) zeros: bool,
    /// The row of each node in the block of its type.
    pub(crate) place: Arc<[u32]>,
    pub(crate) times: Arc<[i64]>,
    /// Of each relation the times of its arcs, as [`crate::GraphRelation::incoming`] lists them; empty where edges have none.
    pub(crate) arc_times: Arc<[Vec<i64>]>,
    /// The units of time in a day.
    pub(crate) day: f64,
}

impl TimedGraph {
    /// A graph all of whose nodes were always there. `zeros` says that a feature which a row leaves out is 0, and not missing.
    /// O(n).
    ///
    /// # Errors
    /// If the types are those of another number of nodes, or a block has other rows than its type.
    pub fn new(
        graph: impl Into<Arc<Graph>>,
        types: impl Into<Arc<GraphTypes>>,
        blocks: Vec<Features>,
        zeros: bool,
    ) -> Result<Self, DataError> {
        let (graph, types) = (graph.into(), types.into());
        let (nodes, found) = (graph.n_nodes(), types.of().len());
        if nodes != found {
            return Err(DataError::Length { what: "types", nodes, found });
        }
        let mut counts = vec![0u32; types.names().len()];
        let place = types.of().iter().map(|&kind| {
            counts[kind as usize] += 1;
            counts[kind as usize] - 1
        });
        let place: Arc<[u32]> = place.collect();
        if blocks.len() != counts.len() {
            let text = format!("there are {} types, but the features of {}", counts.len(), blocks.len());
            return Err(DataError::Features(text));
        }
        for (block, &count) in blocks.iter().zip(&counts) {
            if let Some(found) = block.n_rows().filter(|&found| found != count as usize) {
                return Err(DataError::Length { what: "features", nodes: count as usize, found });
            }
        }
        let (times, arc_times) = (vec![ALWAYS; nodes].into(), [].into());
        Ok(Self { graph, types, blocks: blocks.into(), zeros, place, times, arc_times, day: 1.0 })
    }

    /// The same graph with the time of each node, [`ALWAYS`] for one without, and the units of time in a day.
    ///
    /// # Errors
    /// If there is not one time a node.
    pub fn with_times(mut self, times: Vec<i64>, day: f64) -> Result<Self, DataError> {
        let (nodes, found) = (self.graph.n_nodes(), times.len());
        if nodes != found {
            return Err(DataError::Length { what: "times", nodes, found });
        }
        (self.times, self.day) = (times.into(), day);
        Ok(self)
    }

    /// The same graph with times of edges, rows `(source, target, name, time)` of which the earliest of equal ones counts;
    /// `names` are those of [`GraphTypes::new`]. O(m log m).
    pub fn with_edge_times(mut self, names: &[String], edges: impl Iterator<Item = (u32, u32, u32, i64)>) -> Self {
        let mut number = HashMap::new();
        for (at, relation) in self.types.relations().iter().enumerate() {
            number.insert((relation.source, relation.name.as_str(), relation.target, relation.inverse), at);
        }
        let relations = self.types.relations();
        let mut times: Vec<Vec<i64>> =
            relations.iter().map(|relation| vec![NEVER; relation.incoming.n_arcs()]).collect();
        let kind = |node: u32| self.types.of()[node as usize];
        for (source, target, name, time) in edges {
            let name = names[name as usize].as_str();
            // An edge without direction within a type goes both ways in one relation, which has no inverse.
            let ways = [(source, target, false), (target, source, true)];
            for (from, to, inverse) in ways {
                let own = number.get(&(kind(from), name, kind(to), inverse));
                let own = own.or_else(|| number.get(&(kind(from), name, kind(to), false)));
                let Some(&at) = own else { continue };
                let incoming = &relations[at].incoming;
                if let Ok(place) = incoming.successors(to).binary_search(&from) {
                    let time_of = &mut times[at][incoming.offsets()[to as usize] + place];
                    *time_of = time.min(*time_of);
                }
            }
        }
        self.arc_times = times.into();
        self
    }

    /// The same nodes as of one type and all edges as of one relation, for models that read no types. O(n + m log m).
    ///
    /// # Errors
    /// None but those of [`GraphTypes::new`].
    pub(crate) fn untyped(&self) -> Result<(GraphTypes, Vec<Vec<i64>>), DataError> {
        let edges = self.graph.edges().map(|(u, v)| (u, v, 0));
        let of = vec![0; self.graph.n_nodes()];
        let types = GraphTypes::new(vec!["node".to_owned()], of, &["edge".to_owned()], edges, false)?;
        let mut times = Vec::new();
        if let (false, Some(relation)) = (self.arc_times.is_empty(), types.relations().first()) {
            let incoming = &relation.incoming;
            let mut earliest = vec![NEVER; incoming.n_arcs()];
            for (relation, times) in self.types.relations().iter().zip(&*self.arc_times) {
                for ((to, from), &time) in relation.incoming.arcs().zip(times) {
                    for (to, from) in [(to, from), (from, to)] {
                        if let Ok(place) = incoming.successors(to).binary_search(&from) {
                            let time_of = &mut earliest[incoming.offsets()[to as usize] + place];
                            *time_of = time.min(*time_of);
                        }
                    }
                }
            }
            times.push(earliest);
        }
        Ok((types, times))
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.times.len()
    }

    /// The types of the nodes and the relations of the edges.
    pub fn types(&self) -> &GraphTypes {
        &self.types
    }

    /// The time of a node.
    pub fn time(&self, node: u32) -> i64 {
        self.times[node as usize]
    }

    /// Whether a node or an edge came at a time.
    pub fn has_times(&self) -> bool {
        !self.arc_times.is_empty() || self.times.iter().any(|&time| time != ALWAYS)
    }

    /// The bytes that it holds beside the graph and its types.
    pub fn bytes(&self) -> usize {
        let arcs: usize = self.arc_times.iter().map(|times| size_of_val(times.as_slice())).sum();
        self.blocks.iter().map(Features::bytes).sum::<usize>() + 12 * self.times.len() + arcs
    }
}

/// Items of a graph: for each its node and its time.
#[derive(Debug, Clone)]
pub struct ItemRows {
    pub(crate) graph: Arc<TimedGraph>,
    pub(crate) items: Vec<TimedItem>,
}

impl ItemRows {
    /// Items that are nodes of a graph; those that see every node have the time [`NEVER`].
    ///
    /// # Errors
    /// If an item is no node.
    pub fn new(graph: impl Into<Arc<TimedGraph>>, items: Vec<TimedItem>) -> Result<Self, DataError> {
        let graph: Arc<TimedGraph> = graph.into();
        let nodes = graph.n_nodes();
        match items.iter().find(|item| item.node as usize >= nodes) {
            Some(TimedItem { node, .. }) => {
                Err(DataError::Features(format!("an item is node {node}, but there are {nodes} nodes")))
            }
            None => Ok(Self { graph, items }),
        }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Authors 0 and 1, papers 2 and 3: an author "writes" papers, a paper "cites" one.
    fn graph(directed: bool) -> (TimedGraph, Vec<String>) {
        let text = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let names = text(["cites", "writes"]);
        let edges = [(0, 2, 1), (0, 3, 1), (1, 3, 1), (2, 3, 0)];
        let types = GraphTypes::new(text(["author", "paper"]), vec![0, 0, 1, 1], &names, edges, directed).unwrap();
        let graph = Graph::from_edges(4, &[(0, 2), (0, 3), (1, 3), (2, 3)]);
        (TimedGraph::new(graph, types, vec![Features::None, Features::None], false).unwrap(), names)
    }

    #[test]
    fn arcs_have_the_earliest_time_of_their_edges_in_both_directions() {
        for directed in [true, false] {
            let (graph, names) = graph(directed);
            let edges = [(0, 2, 1, 5), (0, 3, 1, 7), (0, 3, 1, 6), (1, 3, 1, 4), (2, 3, 0, 9)];
            let graph = graph.with_edge_times(&names, edges.into_iter());
            for (relation, times) in graph.types.relations().iter().zip(&*graph.arc_times) {
                for ((to, from), time) in relation.incoming.arcs().zip(times) {
                    let (a, b) = (to.min(from), to.max(from));
                    let expected = match (a, b) {
                        (0, 2) => 5,
                        (0, 3) => 6,
                        (1, 3) => 4,
                        _ => 9,
                    };
                    assert_eq!(*time, expected, "{from} to {to} of {}", relation.name);
                }
            }
            let (types, times) = graph.untyped().unwrap();
            assert_eq!(types.relations()[0].incoming.n_arcs(), 8);
            assert_eq!(times, [vec![5, 6, 4, 5, 9, 6, 4, 9]]);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (graph, _) = graph(true);
        let item = TimedItem { number: 0, node: 4, time: NEVER };
        assert!(ItemRows::new(graph.clone(), vec![item]).is_err());
        assert!(graph.with_times(vec![0; 3], 1.0).is_err());
    }
}
