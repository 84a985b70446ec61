//! Synthetic graphs: plain Rust, no Arrow, no SQL.
//!
//! Every generator is one function that gives a [`Generated`]: a simple undirected graph on the nodes `0..n_nodes`, with
//! labels and features where the model has them. The same arguments and the same seed give the same graph on every
//! platform and with every number of threads.
//!
//! A generator reserves from its [`Monitor`](bonnet_graph::Monitor) what it holds while it works and gives it back when
//! it returns: whoever keeps the result accounts for [`Generated::bytes`].
//!
//! * Families: [`cycle()`], [`path()`], [`star()`], [`complete()`], [`grid_2d()`], [`rook_graph()`], [`petersen_graph()`],
//!   [`shrikhande_graph()`].
//! * Random graphs: [`erdos_renyi()`], [`barabasi_albert()`], [`random_regular()`], [`random_tree()`], [`graphon()`],
//!   [`perturb_edges()`].
//! * With labels and features: [`stochastic_block_model()`], [`community_graph()`], [`disease_tree()`], [`gencat()`],
//!   [`preferential_attachment()`], [`regular_homophily()`].
//! * Of any size, block by block, with loops and repeated edges: [`KroneckerEdges`].
//!
//! ```
//! use bonnet_generators::{cycle, erdos_renyi};
//! use bonnet_graph::Unmonitored;
//!
//! assert_eq!(cycle(5, &Unmonitored).unwrap().edges, [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]);
//!
//! // Same seed, same graph.
//! let draw = || erdos_renyi(100, 0.1, 7, &Unmonitored).unwrap();
//! assert_eq!(draw(), draw());
//! ```
//!
//! # Floors
//!
//! 1. `edge_list`, `error`, `generated`, `random`: what generators share.
//! 2. `sample`, `trials`: sampling.
//! 3. `barabasi_albert`, `complete`, `cycle`, `disease_tree`, `erdos_renyi`, `feature_pool`, `gencat`, `graphon`,
//!    `grid_2d`, `kronecker`, `path`, `perturb_edges`, `petersen_graph`, `preferential_attachment`, `random_regular`,
//!    `random_tree`, `regular_homophily`, `rook_graph`, `shrikhande_graph`, `star`: generators, one a file.
//! 4. `community_graph`, `stochastic_block_model`: generators made of others.
//! 5. `sql`: their registrations.

mod barabasi_albert;
mod community_graph;
mod complete;
mod cycle;
mod disease_tree;
mod edge_list;
mod erdos_renyi;
mod error;
mod feature_pool;
mod gencat;
mod generated;
mod graphon;
mod grid_2d;
mod kronecker;
mod path;
mod perturb_edges;
mod petersen_graph;
mod preferential_attachment;
mod random;
mod random_regular;
mod random_tree;
mod regular_homophily;
mod rook_graph;
mod sample;
mod shrikhande_graph;
mod star;
mod stochastic_block_model;
mod trials;

pub use barabasi_albert::barabasi_albert;
pub use community_graph::{CommunityGraph, community_graph};
pub use complete::complete;
pub use cycle::cycle;
pub use disease_tree::{DiseaseTree, disease_tree};
pub use erdos_renyi::erdos_renyi;
pub use error::Error;
pub use feature_pool::{FeaturePool, sample_features};
pub use gencat::{BaseGraph, gencat};
pub use generated::Generated;
pub use graphon::{Graphon, graphon};
pub use grid_2d::grid_2d;
pub use kronecker::{GRAPH500, KroneckerEdges};
pub use path::path;
pub use perturb_edges::perturb_edges;
pub use petersen_graph::petersen_graph;
pub use preferential_attachment::{PreferentialAttachment, preferential_attachment};
pub use random_regular::random_regular;
pub use random_tree::random_tree;
pub use regular_homophily::{RegularHomophily, regular_homophily};
pub use rook_graph::rook_graph;
pub use shrikhande_graph::shrikhande_graph;
pub use star::star;
pub use stochastic_block_model::{StochasticBlockModel, stochastic_block_model};
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
