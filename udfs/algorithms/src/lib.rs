//! Graph algorithms: centralities, cores, paths, communities, link prediction.
//!
//! Kernels only: plain functions over [`bonnet_graph::Graph`] or, where arcs or weights matter, over a [`Network`]; free of
//! Arrow and SQL.
//!
//! * Of nodes: [`core_number`], [`pagerank`], [`triangle_count`].
//! * Of edges: [`truss_number`].
//! * Of a graph: [`transitivity`].
//!
//! ```
//! use bonnet_algorithms::{core_number, transitivity};
//! use bonnet_graph::{Graph, Unmonitored};
//!
//! // A triangle with a tail.
//! let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (1, 2), (2, 3)]);
//! assert_eq!(core_number(&graph, &Unmonitored).unwrap(), [2, 2, 2, 1]);
//! // One triangle; one path of length two about 0 and 1, three about 2.
//! assert_eq!(transitivity(&graph, &Unmonitored).unwrap(), 3.0 / 5.0);
//! ```

mod core_number;
mod error;
mod k_hop;
mod network;
mod pagerank;
mod parallel;
mod transitivity;
mod triangles;
mod truss_number;

#[cfg(test)]
mod testing;

pub use core_number::core_number;
pub use error::AlgorithmError;
pub use k_hop::{Neighborhoods, k_hop};
pub use network::{Links, Network, RepeatedArc, WeightedArcs};
pub use pagerank::{PageRankOptions, pagerank};
pub use transitivity::transitivity;
pub use triangles::triangle_count;
pub use truss_number::truss_number;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
