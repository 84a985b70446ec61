//! What combines subjects: components and the profile of a graph.

mod components;
mod graph_profile;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![components::connected_components(), graph_profile::graph_profile()]
}
