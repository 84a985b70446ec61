//! Heterogeneous graphs: what classes meet along metapaths.
//!
//! A metapath leads from the target type back to it, over relations and their inverses. It induces a graph on the target
//! nodes, which is never stored: [`pairs`] counts its edges, [`edges`] lists them.

mod edges;
mod graph;
mod heterophily;
mod lists;
mod numbering;
mod pairs;
mod relation;
mod schema;

pub use edges::metapath_edges;
pub use graph::{HeteroGraph, TypedRelation};
pub use heterophily::{Aggregate, MetapathValue, aggregate, metapath_heterophily};
pub use pairs::{PairCounts, metapath_pairs};
pub use relation::Relation;
pub use schema::{Metapath, MetapathError, Step};
