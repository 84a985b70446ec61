//! The functions of this crate in SQL.

mod connected_components;
mod graph_profile;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![connected_components::connected_components(), graph_profile::graph_profile()]
}
