//! Encodings of the nodes of a graph, which functions of SQL answer and models read.
//!
//! Kernels only: plain functions over [`bonnet_graph::Graph`] or a [`bonnet_graph::Network`], free of Arrow and SQL; their registrations
//! stand in `bonnet-algorithms`. They are a crate of their own so that what learns is not built anew after a change of an algorithm.
//!
//! * [`positional_encoding`]: where in the graph a node is, by [`laplacian_eigenvectors`], [`return_probabilities`] or its degree.
//! * [`encoding_tree`]: communities by structural entropy, with [`CommunityEntropy`] and [`one_dimensional_entropy`].
//! * [`columns`]: tall matrices of few columns, on which iterations for eigenvectors stand.
//!
//! ```
//! use bonnet_encodings::{Encoding, positional_encoding};
//! use bonnet_graph::{Graph, Unmonitored};
//!
//! // On a path of three a walk from an end is back after two steps with probability 1/2, from the middle for certain.
//! let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]);
//! let returns = positional_encoding(&graph, Encoding::RandomWalk, 2, &Unmonitored)?;
//! assert_eq!(returns, [0.0, 0.5, 0.0, 1.0, 0.0, 0.5]);
//! # Ok::<(), bonnet_graph::AlgorithmError>(())
//! ```
//!
//! # Floors
//!
//! 1. `columns`, `structural_entropy`: tall matrices; the entropy of communities.
//! 2. `encoding_tree`, `positional_encoding`: the encodings.

pub mod columns;
mod encoding_tree;
mod positional_encoding;
mod structural_entropy;
#[cfg(test)]
mod testing;

pub use encoding_tree::{EncodingTree, encoding_tree};
pub use positional_encoding::{
    Encoding, directions, laplacian_eigenvectors, positional_encoding, return_probabilities,
};
pub use structural_entropy::{CommunityEntropy, one_dimensional_entropy};
