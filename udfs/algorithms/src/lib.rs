//! Graph algorithms: centralities, cores, paths, communities, link prediction.
//!
//! Kernels only: plain functions over [`bonnet_graph::Graph`] or, where arcs or weights matter, over a [`Network`];
//! free of Arrow and SQL. Encodings of nodes, which models read, too, are those of [`bonnet_encodings`].
//!
//! * Of nodes: [`core_number`], [`triangle_count`], [`local_clustering`]; centralities: [`pagerank`], [`degree_centrality`],
//!   [`closeness_centrality`], [`harmonic_centrality`], [`betweenness_centrality`], [`eigenvector_centrality`],
//!   [`katz_centrality`]; [`eccentricity`]; communities: [`louvain`], [`leiden`], [`label_propagation_communities`],
//!   [`encoding_tree`].
//! * Of edges: [`truss_number`], [`edge_betweenness`]; of pairs of nodes: [`link_scores`], [`two_hop_scores`].
//! * Of a graph: [`transitivity`], [`degree_assortativity`], [`diameter`], [`effective_diameter`], [`modularity`],
//!   [`one_dimensional_entropy`]; [`is_bipartite`], [`is_planar`], [`treewidth_upper_bound`], [`is_isomorphic`].
//! * From nodes: [`k_hop`], [`random_walks`]; encodings of nodes: [`positional_encoding`], [`laplacian_eigenvectors`],
//!   [`return_probabilities`]; embeddings: [`walk_embedding`] by [`skip_gram`], [`adjacency_svd`].
//! * Connection: [`strong_components`], [`condensation`], [`biconnected_components`], [`articulation_points`], [`bridges`],
//!   [`dominators`], [`topological_sort`], [`feedback_arc_set`].
//! * Paths and flows: [`shortest_paths`], [`minimum_spanning_tree`], [`maximum_flow`], [`minimum_cut`].
//! * Choices of nodes and edges: [`maximum_matching`], [`graph_coloring`], [`maximal_cliques`], [`subgraph_isomorphisms`].
//!
//! Kernels tell the [`Monitor`](bonnet_graph::Monitor) how far they are, but for those that do not know how much is to come, which
//! are petgraph's ([`graph_coloring`], [`maximum_flow`], [`feedback_arc_set`], [`minimum_spanning_tree`], [`strong_components`],
//! [`articulation_points`], [`bridges`], [`is_isomorphic`], [`subgraph_isomorphisms`]), and single walks over the graph in linear
//! time ([`biconnected_components`], [`dominators`], [`is_bipartite`], [`is_planar`], [`minimum_cut`], [`topological_sort`]). Those
//! of communities expect one round after the other.
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
//!
//! # Floors
//!
//! 1. `parallel`, `path_counts`, `waiting`: what the algorithms share.
//! 2. `searches`, `triangles`, `weighted_search`: searches and triangles, on which others build.
//! 3. `biconnected_components`, `communities`, `core_number`, `degree_assortativity`, `degree_centrality`,
//!    `dominators`, `eigenvector`, `feedback_arc_set`, `graph_coloring`, `is_bipartite`, `is_planar`,
//!    `isomorphism`, `k_hop`, `link_scores`, `maximal_cliques`, `maximum_flow`, `maximum_matching`,
//!    `minimum_spanning_tree`, `pagerank`, `random_walks`, `shortest_paths`,
//!    `strong_components`, `topological_sort`, `treewidth`: algorithms, one a file.
//! 4. `betweenness`, `distances`, `local_clustering`, `node_embedding`, `transitivity`, `truss_number`: algorithms on
//!    searches, triangles, walks and encodings.
//! 5. `diameter`: algorithms on distances.
//! 6. `sql`: their registrations.

mod betweenness;
mod biconnected_components;
mod communities;
mod core_number;
mod degree_assortativity;
mod degree_centrality;
mod diameter;
mod distances;
mod dominators;
mod eigenvector;
mod feedback_arc_set;
mod graph_coloring;
mod is_bipartite;
mod is_planar;
mod isomorphism;
mod k_hop;
mod link_scores;
mod local_clustering;
mod maximal_cliques;
mod maximum_flow;
mod maximum_matching;
mod minimum_spanning_tree;
mod node_embedding;
mod pagerank;
mod parallel;
mod path_counts;
mod random_walks;
mod searches;
mod shortest_paths;
mod strong_components;
mod topological_sort;
mod transitivity;
mod treewidth;
mod triangles;
mod truss_number;
mod waiting;
mod weighted_search;

#[cfg(test)]
mod progress_tests;
#[cfg(test)]
mod testing;

pub use betweenness::{Betweenness, BetweennessOptions, betweenness_centrality, edge_betweenness};
pub use biconnected_components::{articulation_points, biconnected_components, bridges};
pub use bonnet_encodings::{
    CommunityEntropy, Encoding, EncodingTree, encoding_tree, laplacian_eigenvectors, one_dimensional_entropy,
    positional_encoding, return_probabilities,
};
pub use bonnet_graph::{AlgorithmError, Links, Network, RepeatedArc, WeightedArcs};
pub use communities::{CommunityOptions, LabelPropagation, label_propagation_communities, leiden, louvain, modularity};
pub use core_number::core_number;
pub use degree_assortativity::degree_assortativity;
pub use degree_centrality::{Direction, degree_centrality};
pub use diameter::diameter;
pub use distances::{closeness_centrality, eccentricity, effective_diameter, harmonic_centrality};
pub use dominators::dominators;
pub use eigenvector::{IterationOptions, eigenvector_centrality, katz_centrality};
pub use feedback_arc_set::feedback_arc_set;
pub use graph_coloring::graph_coloring;
pub use is_bipartite::is_bipartite;
pub use is_planar::is_planar;
pub use isomorphism::{is_isomorphic, subgraph_isomorphisms};
pub use k_hop::{Neighborhoods, k_hop};
pub use link_scores::{LinkScore, ScoredPairs, link_scores, two_hop_scores};
pub use local_clustering::{directed_local_clustering, local_clustering};
pub use maximal_cliques::maximal_cliques;
pub use maximum_flow::{Flow, maximum_flow, minimum_cut};
pub use maximum_matching::maximum_matching;
pub use minimum_spanning_tree::minimum_spanning_tree;
pub use node_embedding::{SkipGramOptions, adjacency_svd, skip_gram, walk_embedding};
pub use pagerank::{PageRankOptions, pagerank};
pub use random_walks::{WalkOptions, random_walks};
pub use shortest_paths::{Ends, PathAlgorithm, PathOptions, ShortestPath, shortest_paths};
pub use strong_components::{condensation, strong_components};
pub use topological_sort::topological_sort;
pub use transitivity::transitivity;
pub use treewidth::{Elimination, treewidth_upper_bound};
pub use triangles::triangle_count;
pub use truss_number::truss_number;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
