//! Petgraph's algorithms answer alike on our graphs and on petgraph's own copies of them.

use std::sync::atomic::{AtomicU32, Ordering};

use petgraph::algo;
use petgraph::graph::{DiGraph, NodeIndex, UnGraph};
use petgraph::visit::{
    EdgeCount, EdgeIndexable, EdgeRef, GetAdjacencyMatrix, IntoEdgeReferences, IntoEdges, IntoEdgesDirected,
    IntoNeighborsDirected, NodeIndexable,
};
use petgraph::{Direction, EdgeType};
use proptest::prelude::*;

use crate::{Digraph, Graph, Monitor, Stopped, Unmonitored, watched};

/// A number of nodes and rows of edges, with loops, repeats and nodes without any.
fn rows() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1usize..12).prop_flat_map(|n| (Just(n), proptest::collection::vec((0..n as u32, 0..n as u32), 0..30)))
}

fn sorted<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_unstable();
    values
}

fn ends<E: EdgeRef<NodeId = NodeIndex>>(edge: E) -> (usize, usize) {
    let (u, v) = (edge.source().index(), edge.target().index());
    (u.min(v), u.max(v))
}

fn partition(components: Vec<Vec<NodeIndex>>) -> Vec<Vec<NodeIndex>> {
    sorted(components.into_iter().map(sorted))
}

/// The distances by edges of length `1 + source + target`, and along the fewest edges.
fn distances<G>(graph: G, n: usize) -> Vec<Option<usize>>
where
    G: IntoEdges<NodeId = NodeIndex> + petgraph::visit::Visitable<NodeId = NodeIndex>,
{
    let found =
        algo::dijkstra(graph, NodeIndex::new(0), None, |edge| 1 + edge.source().index() + edge.target().index());
    (0..n).map(|v| found.get(&NodeIndex::new(v)).copied()).collect()
}

proptest! {
    #[test]
    fn undirected_graphs_answer_as_copies_do((n, rows) in rows()) {
        let graph = Graph::from_edges(n, &rows);
        let copy = UnGraph::from(&graph);
        prop_assert_eq!(&Graph::from(&copy), &graph);
        prop_assert_eq!(algo::connected_components(&graph), algo::connected_components(&copy));
        prop_assert_eq!(sorted(algo::bridges(&graph).map(ends)), sorted(algo::bridges(&copy).map(ends)));
        prop_assert_eq!(
            sorted(algo::articulation_points::articulation_points(&graph)),
            sorted(algo::articulation_points::articulation_points(&copy))
        );
        prop_assert_eq!(distances(&graph, n), distances(&copy, n));
        prop_assert_eq!(algo::maximum_matching(&graph).len(), algo::maximum_matching(&copy).len());
        prop_assert!(algo::is_isomorphic(&graph, &copy));
        prop_assert_eq!(algo::is_cyclic_undirected(&graph), algo::is_cyclic_undirected(&copy));
        prop_assert_eq!(graph.edge_references().count(), graph.edge_count());
        for edge in graph.edge_references() {
            // The same edge has the same number from both endpoints and by both directions.
            for (from, direction) in [(edge.source(), Direction::Outgoing), (edge.target(), Direction::Incoming)] {
                prop_assert!(graph.edges_directed(from, direction).any(|other| other.id() == edge.id()));
            }
            let met = IntoEdges::edges(&graph, edge.target()).find(|other| other.target() == edge.source()).unwrap();
            prop_assert_eq!(met.id(), edge.id());
            prop_assert!(graph.is_adjacent(&(), edge.target(), edge.source()));
        }
    }

    #[test]
    fn directed_graphs_answer_as_copies_do((n, rows) in rows(), loops: bool) {
        let graph = if loops { Digraph::with_loops(n, &rows) } else { Digraph::from_arcs(n, &rows) };
        let copy = DiGraph::from(&graph);
        if !loops {
            prop_assert_eq!(&Digraph::from(&copy), &graph);
        }
        prop_assert_eq!(partition(algo::tarjan_scc(&graph)), partition(algo::kosaraju_scc(&copy)));
        prop_assert_eq!(partition(algo::kosaraju_scc(&graph)), partition(algo::tarjan_scc(&copy)));
        prop_assert_eq!(algo::toposort(&graph, None).is_ok(), algo::toposort(&copy, None).is_ok());
        prop_assert_eq!(distances(&graph, n), distances(&copy, n));
        let (ours, theirs) = (
            algo::dominators::simple_fast(&graph, NodeIndex::new(0)),
            algo::dominators::simple_fast(&copy, NodeIndex::new(0)),
        );
        for v in (0..n).map(NodeIndex::new) {
            prop_assert_eq!(ours.immediate_dominator(v), theirs.immediate_dominator(v));
            let from: Vec<_> = graph.neighbors_directed(v, Direction::Incoming).collect();
            prop_assert_eq!(from, sorted(copy.neighbors_directed(v, Direction::Incoming)));
            for arc in graph.edges_directed(v, Direction::Incoming) {
                prop_assert_eq!((arc.target(), graph.is_adjacent(&(), arc.source(), v)), (v, true));
                prop_assert!(EdgeIndexable::to_index(&graph, arc.id()) < graph.edge_count());
            }
        }
        let numbers: Vec<usize> = graph.edge_references().map(|arc| arc.id().index()).collect();
        prop_assert_eq!(numbers, (0..graph.n_arcs()).collect::<Vec<_>>());
    }

    #[test]
    fn flows_by_arcs_are_those_of_a_copy((n, rows) in rows()) {
        let graph = Digraph::from_arcs(n, &rows);
        let capacities: Vec<u32> = graph.arcs().map(|(u, v)| 1 + (3 * u + 5 * v) % 7).collect();
        let copy = DiGraph::from(&graph).map(|_, ()| (), |arc, ()| capacities[arc.index()]);
        let (source, target) = (NodeIndex::new(0), NodeIndex::new(n - 1));
        if source != target {
            let ours = algo::maximum_flow::dinics(graph.view().weighted(&capacities), source, target).0;
            prop_assert_eq!(ours, algo::ford_fulkerson(&copy, source, target).0);
        }
    }
}

#[test]
fn direction_is_the_type_s() {
    fn is_directed<G: petgraph::visit::GraphProp>(_: G) -> bool {
        G::EdgeType::is_directed()
    }
    assert!(!is_directed(Graph::from_edges(1, &[])));
    assert!(is_directed(Digraph::from_arcs(1, &[])));
    assert_eq!(NodeIndexable::node_bound(&Graph::from_edges(3, &[])), 3);
}

#[test]
fn an_undirected_graph_of_theirs_has_both_arcs() {
    let theirs = UnGraph::<(), ()>::from_edges([(0u32, 1u32), (1, 1), (1, 2)]);
    assert_eq!(Digraph::from(&theirs).arcs().collect::<Vec<_>>(), [(0, 1), (1, 0), (1, 2), (2, 1)]);
}

/// Refuses to go on after some questions.
struct Impatient {
    left: AtomicU32,
}

impl Monitor for Impatient {
    fn check(&self) -> Result<(), Stopped> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Stopped::Cancelled)
    }

    fn reserve(&self, _: usize) -> Result<(), Stopped> {
        self.check()
    }

    fn release(&self, _: usize) {}
}

#[test]
fn an_algorithm_of_petgraph_stops_when_the_monitor_says_so() {
    let edges: Vec<(u32, u32)> = (0..100_000).map(|v| (v, v + 1)).collect();
    let graph = Graph::from_edges(100_001, &edges);
    let run = |monitor: &dyn Monitor| watched(graph.view(), monitor, |view| algo::bridges(view).count());
    assert_eq!(run(&Unmonitored), Ok(100_000));
    assert_eq!(run(&Impatient { left: AtomicU32::new(3) }), Err(Stopped::Cancelled));
}
