//! Graphs as compressed sparse rows, traversal, components and random draws: plain Rust, no Arrow, no SQL.
//!
//! Nodes are the integers `0..n`. Whoever holds other keys numbers them first; kernels that need an order of the keys
//! (`b before c`) rely on the numbers being in key order.
//!
//! * [`Graph`]: undirected and simple, neighbours in ascending order; [`Digraph`]: arcs; [`Network`]: either, with weights or without,
//!   as algorithms read it. [`EdgeFile`]: a graph that is larger than memory.
//! * [`connected_components`], [`watched_components`].
//! * Petgraph's algorithms read both graphs as they stand, through [`View`] with weights; [`watched`] stops them. Petgraph's
//!   graphs are converted by `From`, both ways.
//! * [`isa`]: inner loops compiled for several instruction sets.
//! * [`Monitor`]: how a kernel asks whether to go on, reserves memory ([`Reservation`]) and reports progress;
//!   [`Unmonitored`] where nobody watches; [`Steps`] of a computation whose end is known; [`AlgorithmError`]: why there is no answer.
//!
//! ```
//! use bonnet_graph::{Graph, connected_components};
//!
//! // A triangle with a tail, and a node by itself. Repeats and loops do not count.
//! let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 3)]);
//! assert_eq!(graph.n_edges(), 4);
//! assert_eq!(graph.neighbors(2), [0, 1, 3]);
//! assert_eq!(connected_components(&graph).sizes, [4, 1]);
//! ```
//!
//! A graph in an algorithm of petgraph, without a copy; and from a graph of petgraph, and back:
//!
//! ```
//! use bonnet_graph::{Digraph, Graph, petgraph};
//! use petgraph::graph::{DiGraph, NodeIndex, UnGraph};
//! use petgraph::visit::EdgeRef;
//!
//! let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
//! let bridges: Vec<_> = petgraph::algo::bridges(&graph).map(|edge| (edge.source().index(), edge.target().index())).collect();
//! assert_eq!(bridges, [(2, 3)]);
//!
//! // Weights come beside the graph, in the order of its lists of successors.
//! let arcs = Digraph::from_arcs(3, &[(0, 1), (1, 2), (0, 2)]);
//! let weighted = arcs.view().weighted(&[1.0, 5.0, 2.0]);
//! let distances = petgraph::algo::dijkstra(weighted, NodeIndex::new(0), None, |edge| *edge.weight());
//! assert_eq!(distances[&NodeIndex::new(2)], 3.0);
//!
//! let theirs = UnGraph::<&str, f64>::from_edges([(0u32, 1u32, 0.5), (1, 0, 0.5), (1, 2, 0.25)]);
//! let ours = Graph::from(&theirs);
//! assert_eq!(ours.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
//! assert_eq!(UnGraph::from(&ours).edge_count(), 2);
//! assert_eq!(DiGraph::from(&arcs).edge_count(), 3);
//! ```
//!
//! # Floors
//!
//! 1. `isa`, `monitor`, `random`, `targets`: the monitor, randomness, the machine, where adjacency lists are.
//! 2. `algorithm_error`, `graph`, `steps`: the graph, errors and progress.
//! 3. `components`, `edge_file`, `petgraph_watch`: components; graphs larger than memory; a search that is watched.
//! 4. `petgraph_view`: the graph as petgraph sees it.
//! 5. `network`, `petgraph_algorithm`, `petgraph_graphs`: graphs with weights; algorithms of petgraph.

mod algorithm_error;
mod components;
mod edge_file;
mod graph;
pub mod isa;
mod monitor;
mod network;
mod petgraph_algorithm;
mod petgraph_graphs;
#[cfg(test)]
mod petgraph_tests;
mod petgraph_view;
mod petgraph_watch;
pub mod random;
mod steps;
mod targets;

pub use algorithm_error::AlgorithmError;
pub use components::{Components, by_size, connected_components, watched_components};
pub use edge_file::{EdgeFile, EdgeFileError, EmptyFile};
pub use graph::{Digraph, Graph};
pub use monitor::{Monitor, Reservation, Stopped, Unmonitored};
pub use network::{Links, Network, RepeatedArc, WeightedArcs};
pub use petgraph;
pub use petgraph_algorithm::{watched, watched_within};
pub use petgraph_view::{ArcId, Edge, EdgeReferences, Edges, Lists, Neighbors, NodeReferences, Nodes, View};
pub use steps::{Steps, hundredths};
