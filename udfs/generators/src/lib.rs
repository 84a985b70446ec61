//! Synthetic graphs: plain Rust, no Arrow, no SQL.
//!
//! Every generator is one function that gives a [`Generated`]: a simple undirected graph on the nodes `0..n_nodes`, with
//! labels and features where the model has them. The same arguments and the same seed give the same graph on every
//! platform and with every number of threads.
//!
//! A generator reserves from its [`Monitor`](bonnet_graph::Monitor) what it holds while it works and gives it back when
//! it returns: whoever keeps the result accounts for [`Generated::bytes`].

mod barabasi_albert;
mod complete;
mod cycle;
mod disease_tree;
mod edge_list;
mod erdos_renyi;
mod error;
mod generated;
mod grid_2d;
mod path;
mod random;
mod random_tree;
mod star;
mod stochastic_block_model;
mod trials;

pub use barabasi_albert::barabasi_albert;
pub use complete::complete;
pub use cycle::cycle;
pub use disease_tree::{DiseaseTree, disease_tree};
pub use erdos_renyi::erdos_renyi;
pub use error::Error;
pub use generated::Generated;
pub use grid_2d::grid_2d;
pub use path::path;
pub use random_tree::random_tree;
pub use star::star;
pub use stochastic_block_model::{StochasticBlockModel, stochastic_block_model};
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
