//! The algorithms as SQL functions.
//!
//! [`relation::node_function`] lifts what answers a value for each node, [`relation::graph_function`] what answers other
//! rows about a graph, [`edge::edge_function`] what answers a value for each edge; `bonnet_sql::graph_aggregate` what is a
//! cheap number of a graph.

mod chosen;
mod core_number;
mod edge;
mod k_hop;
mod network;
mod pagerank;
mod relation;
mod transitivity;
mod truss_number;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        core_number::core_number(),
        k_hop::k_hop(),
        pagerank::pagerank(),
        transitivity::transitivity(),
        truss_number::truss_number(),
    ]
}
