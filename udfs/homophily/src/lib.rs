//! Homophily of labelled graphs: plain Rust, no Arrow, no SQL.
//!
//! Everything is counted in integers first ([`LabelPairs`], [`NeighborMatches`]) and becomes a number at the end. Counts
//! can be made in parts and merged: any partition and any order give the same counts, and the same counts give the same
//! number to the last bit.
//!
//! Labels and nodes are numbered from 0 by the caller, or by an [`Interner`]. A row with a NULL is not counted: the caller
//! leaves it out.

mod adjusted_homophily;
mod edge_homophily;
mod hashing;
mod interner;
mod label_informativeness;
mod label_pairs;
mod node_homophily;

pub use adjusted_homophily::{adjusted_homophily, adjusted_homophily_of_graph};
pub use edge_homophily::{edge_homophily, edge_homophily_of_graph};
pub use interner::Interner;
pub use label_informativeness::{label_informativeness, label_informativeness_of_graph};
pub use label_pairs::LabelPairs;
pub use node_homophily::{Error, NeighborMatches, node_homophily, node_homophily_of_graph};
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
