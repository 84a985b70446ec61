//! Homophily of labelled graphs: plain Rust, no Arrow, no SQL.
//!
//! Everything is counted in integers first ([`LabelPairs`], [`NeighborMatches`]) and becomes a number at the end. Counts
//! can be made in parts and merged: any partition and any order give the same counts, and the same counts give the same
//! number to the last bit.
//!
//! Labels and nodes are numbered from 0 by the caller, or by an [`Interner`]. A row with a NULL is not counted: the caller
//! leaves it out.
//!
//! * Of labels: [`edge_homophily`], [`node_homophily`], [`class_homophily`], [`adjusted_homophily`],
//!   [`label_informativeness`], [`aggregation_homophily`], [`neighborhood_identifiability`].
//! * Of labels and features: [`generalized_edge_homophily`], [`classifier_accuracies`].
//! * Of graphs with types: [`metapath_heterophily`] along a [`Metapath`].
//!
//! ```
//! use bonnet_graph::{Graph, Unmonitored};
//! use bonnet_homophily::edge_homophily_of_graph;
//!
//! let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]);
//! let labels = [Some(0), Some(0), Some(0), Some(1)];
//! assert_eq!(edge_homophily_of_graph(&graph, &labels, &Unmonitored).unwrap(), Some(0.75));
//! ```
//!
//! # Floors
//!
//! 1. `dense`, `features`, `gaussian_naive_bayes`, `hashing`, `propagation`: matrices, features, statistics.
//! 2. `interner`, `kernel_regression`, `label_pairs`: labels and their pairs; a classifier.
//! 3. `adjusted_homophily`, `aggregation_homophily`, `class_homophily`, `classifier_accuracies`, `edge_homophily`,
//!    `generalized_edge_homophily`, `label_informativeness`, `neighborhood_identifiability`, `node_homophily`:
//!    measures, one a file.
//! 4. `metapath`: measures along metapaths.
//! 5. `sql`: their registrations.

mod adjusted_homophily;
mod aggregation_homophily;
mod class_homophily;
mod classifier_accuracies;
mod dense;
mod edge_homophily;
mod features;
mod gaussian_naive_bayes;
mod generalized_edge_homophily;
mod hashing;
mod interner;
mod kernel_regression;
mod label_informativeness;
mod label_pairs;
mod metapath;
mod neighborhood_identifiability;
mod node_homophily;
mod propagation;

pub use adjusted_homophily::{adjusted_homophily, adjusted_homophily_of_graph};
pub use aggregation_homophily::aggregation_homophily;
pub use class_homophily::class_homophily;
pub use classifier_accuracies::{
    Accuracies, Classifier, ClassifierError, ClassifierOptions, classifier_accuracies, classifier_p_value,
};
pub use edge_homophily::{edge_homophily, edge_homophily_of_graph};
pub use features::FeatureRows;
pub use generalized_edge_homophily::{CosineSum, cosine, generalized_edge_homophily};
pub use interner::{Interner, TooManyKeys};
pub use label_informativeness::{label_informativeness, label_informativeness_of_graph};
pub use label_pairs::LabelPairs;
pub use metapath::{
    Aggregate, HeteroGraph, Metapath, MetapathError, MetapathValue, PairCounts, Relation, Step, TypedRelation,
    aggregate, metapath_edges, metapath_heterophily, metapath_pairs,
};
pub use neighborhood_identifiability::neighborhood_identifiability;
pub use node_homophily::{Error, NeighborMatches, node_homophily, node_homophily_of_arcs, node_homophily_of_graph};
pub use propagation::Normalization;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
