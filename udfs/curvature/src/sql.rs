//! The curvatures as SQL functions.

mod edges;
mod nodes;
mod ollivier;
mod resistance;
mod rows;
mod strata;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = vec![
        nodes::midpoint_curvature(),
        edges::forman_ricci(),
        ollivier::ollivier_ricci(),
        ollivier::ollivier_ricci_pairs(),
        resistance::node_resistance_curvature(),
        strata::regime(),
    ];
    functions.extend(resistance::edge_functions());
    functions.extend(strata::skewnesses());
    functions
}
