//! The curvatures as SQL functions.

mod edge_values;
mod forman_ricci;
mod midpoint_curvature;
mod node_resistance_curvature;
mod ollivier_ricci;
mod ollivier_ricci_pairs;
mod regime;
mod resistance;
mod skewness;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        forman_ricci::forman_ricci(),
        midpoint_curvature::midpoint_curvature(),
        node_resistance_curvature::node_resistance_curvature(),
        ollivier_ricci::ollivier_ricci(),
        ollivier_ricci_pairs::ollivier_ricci_pairs(),
        regime::regime(),
        resistance::effective_resistance(),
        resistance::resistance_curvature(),
        skewness::skewness(),
        skewness::skewness_adjusted(),
        skewness::skewness_sample(),
    ]
}
