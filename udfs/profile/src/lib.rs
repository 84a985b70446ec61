//! Functions that combine subjects: components and the profile of a graph.
//!
//! The one subject that builds on others: `graph_profile` is a row of sizes, distances, curvature and homophily.
//!
//! ```
//! let names: Vec<&str> = bonnet_profile::functions().iter().map(|function| function.name).collect();
//! assert_eq!(names, ["connected_components", "graph_profile"]);
//! ```
//!
//! # Floors
//!
//! 1. `sql`: components and profiles of graphs.

mod sql;

pub use sql::functions;
