//! [`Graph`] and [`Digraph`] in petgraph's algorithms, and the ways between petgraph's graphs and ours.

use fixedbitset::FixedBitSet;
use petgraph::data::DataMap;
use petgraph::graph::{DiGraph, IndexType, NodeIndex, UnGraph};
use petgraph::visit::{
    Data, EdgeCount, EdgeIndexable, EdgeRef, GetAdjacencyMatrix, GraphBase, GraphProp, IntoEdgeReferences, IntoEdges,
    IntoEdgesDirected, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, IntoNodeReferences,
    NodeCompactIndexable, NodeCount, NodeIndexable, Visitable,
};
use petgraph::{Directed, Direction, EdgeType, Undirected};

use crate::petgraph_view::{ArcId, Edge, EdgeReferences, Edges, Neighbors, NodeReferences, Nodes, View};
use crate::{Digraph, Graph};

impl Graph {
    /// The graph as petgraph's algorithms read it, for weights or a monitor; `&Graph` itself will do without them.
    pub fn view(&self) -> View<'_, Undirected> {
        View::undirected((self.offsets(), self.targets()))
    }
}

impl Digraph {
    /// The graph as petgraph's algorithms read it, for weights or a monitor; `&Digraph` itself will do without them.
    pub fn view(&self) -> View<'_, Directed> {
        View::directed((self.offsets(), self.targets()), self.predecessor_lists())
    }
}

/// Petgraph's traits for a graph and references to it, by its view.
macro_rules! visited_by_view {
    ($graph:ty, $kind:ty) => {
        impl GraphBase for $graph {
            type EdgeId = ArcId;
            type NodeId = NodeIndex;
        }

        impl Data for $graph {
            type NodeWeight = ();
            type EdgeWeight = ();
        }

        impl DataMap for $graph {
            fn node_weight(&self, id: NodeIndex) -> Option<&()> {
                (id.index() < self.n_nodes()).then_some(&())
            }

            fn edge_weight(&self, id: ArcId) -> Option<&()> {
                (id.index() < self.targets().len()).then_some(&())
            }
        }

        impl GraphProp for $graph {
            type EdgeType = $kind;
        }

        impl NodeCount for $graph {
            fn node_count(&self) -> usize {
                self.n_nodes()
            }
        }

        impl NodeIndexable for $graph {
            fn node_bound(&self) -> usize {
                self.n_nodes()
            }

            fn to_index(&self, v: NodeIndex) -> usize {
                v.index()
            }

            fn from_index(&self, i: usize) -> NodeIndex {
                NodeIndex::new(i)
            }
        }

        impl NodeCompactIndexable for $graph {}

        impl EdgeCount for $graph {
            fn edge_count(&self) -> usize {
                self.view().edge_count()
            }
        }

        impl Visitable for $graph {
            type Map = FixedBitSet;

            fn visit_map(&self) -> FixedBitSet {
                self.view().visit_map()
            }

            fn reset_map(&self, map: &mut FixedBitSet) {
                self.view().reset_map(map);
            }
        }

        impl GetAdjacencyMatrix for $graph {
            /// Adjacency is looked up in the sorted lists.
            type AdjMatrix = ();

            fn adjacency_matrix(&self) {}

            fn is_adjacent(&self, (): &(), u: NodeIndex, v: NodeIndex) -> bool {
                self.view().is_adjacent(&(), u, v)
            }
        }

        impl IntoNodeIdentifiers for &$graph {
            type NodeIdentifiers = Nodes;

            fn node_identifiers(self) -> Nodes {
                self.view().node_identifiers()
            }
        }

        impl IntoNodeReferences for &$graph {
            type NodeRef = (NodeIndex, &'static ());
            type NodeReferences = NodeReferences;

            fn node_references(self) -> NodeReferences {
                self.view().node_references()
            }
        }

        impl<'a> IntoNeighbors for &'a $graph {
            type Neighbors = Neighbors<'a>;

            fn neighbors(self, v: NodeIndex) -> Neighbors<'a> {
                self.view().neighbors(v)
            }
        }

        impl<'a> IntoNeighborsDirected for &'a $graph {
            type NeighborsDirected = Neighbors<'a>;

            fn neighbors_directed(self, v: NodeIndex, direction: Direction) -> Neighbors<'a> {
                self.view().neighbors_directed(v, direction)
            }
        }

        impl<'a> IntoEdgeReferences for &'a $graph {
            type EdgeRef = Edge<'a, $kind, ()>;
            type EdgeReferences = EdgeReferences<'a, $kind, ()>;

            fn edge_references(self) -> EdgeReferences<'a, $kind, ()> {
                self.view().edge_references()
            }
        }

        impl<'a> IntoEdges for &'a $graph {
            type Edges = Edges<'a, $kind, ()>;

            fn edges(self, v: NodeIndex) -> Edges<'a, $kind, ()> {
                self.view().edges(v)
            }
        }

        impl<'a> IntoEdgesDirected for &'a $graph {
            type EdgesDirected = Edges<'a, $kind, ()>;

            fn edges_directed(self, v: NodeIndex, direction: Direction) -> Edges<'a, $kind, ()> {
                self.view().edges_directed(v, direction)
            }
        }
    };
}

visited_by_view!(Graph, Undirected);
visited_by_view!(Digraph, Directed);

impl EdgeIndexable for Digraph {
    fn edge_bound(&self) -> usize {
        self.n_arcs()
    }

    fn to_index(&self, arc: ArcId) -> usize {
        arc.index()
    }

    fn from_index(&self, i: usize) -> ArcId {
        ArcId::new(i)
    }
}

fn pairs<N, E, Ty: EdgeType, Ix: IndexType>(graph: &petgraph::Graph<N, E, Ty, Ix>) -> Vec<(u32, u32)> {
    let nodes = graph.node_count();
    assert!(u32::try_from(nodes).is_ok(), "{nodes} nodes: at most {} can be numbered", u32::MAX);
    graph.edge_references().map(|edge| (edge.source().index() as u32, edge.target().index() as u32)).collect()
}

/// The simple graph of a graph of petgraph: node `i` is its node of index `i`; direction, repeats, loops and weights are left
/// out. O(n + m).
///
/// # Panics
/// If there are more nodes than 32 bits can number.
impl<N, E, Ty: EdgeType, Ix: IndexType> From<&petgraph::Graph<N, E, Ty, Ix>> for Graph {
    fn from(graph: &petgraph::Graph<N, E, Ty, Ix>) -> Self {
        Self::from_edges(graph.node_count(), &pairs(graph))
    }
}

/// The arcs of a graph of petgraph, both of each edge of an undirected one; repeats, loops and weights are left out. O(n + m).
///
/// # Panics
/// If there are more nodes than 32 bits can number.
impl<N, E, Ty: EdgeType, Ix: IndexType> From<&petgraph::Graph<N, E, Ty, Ix>> for Digraph {
    fn from(graph: &petgraph::Graph<N, E, Ty, Ix>) -> Self {
        let mut arcs = pairs(graph);
        if !graph.is_directed() {
            arcs.extend_from_within(..);
            let edges = arcs.len() / 2;
            arcs[edges..].iter_mut().for_each(|(u, v)| std::mem::swap(u, v));
        }
        Self::from_arcs(graph.node_count(), &arcs)
    }
}

/// A copy as a graph of petgraph, node `i` at index `i`, edges in ascending order. O(n + m).
///
/// # Panics
/// If there are more edges than 32 bits can number, as always with petgraph's default index.
impl From<&Graph> for UnGraph<(), ()> {
    fn from(graph: &Graph) -> Self {
        copy(graph.n_nodes(), graph.n_edges(), graph.edges())
    }
}

/// A copy as a graph of petgraph, node `i` at index `i`, arcs in ascending order. O(n + m).
///
/// # Panics
/// If there are more arcs than 32 bits can number, as always with petgraph's default index.
impl From<&Digraph> for DiGraph<(), ()> {
    fn from(graph: &Digraph) -> Self {
        copy(graph.n_nodes(), graph.n_arcs(), graph.arcs())
    }
}

fn copy<Ty: EdgeType>(n: usize, m: usize, edges: impl Iterator<Item = (u32, u32)>) -> petgraph::Graph<(), (), Ty> {
    let mut graph = petgraph::Graph::with_capacity(n, m);
    (0..n).for_each(|_| {
        graph.add_node(());
    });
    for (u, v) in edges {
        graph.add_edge(NodeIndex::new(u as usize), NodeIndex::new(v as usize), ());
    }
    graph
}
