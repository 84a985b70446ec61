//! The curvatures as SQL functions.

mod balanced_forman;
mod edge_bounds;
mod edge_values;
mod forman_ricci;
mod lin_lu_yau;
mod midpoint_curvature;
mod node_resistance_curvature;
mod ollivier_ricci;
mod ollivier_ricci_pairs;
mod regime;
mod resistance;
mod ricci_flow;
mod skewness;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        balanced_forman::balanced_forman(),
        edge_bounds::edge_bounds(),
        edge_bounds::edge_change_bounds(),
        forman_ricci::forman_ricci(),
        forman_ricci::weighted_forman_ricci(),
        lin_lu_yau::lin_lu_yau(),
        midpoint_curvature::midpoint_curvature(),
        node_resistance_curvature::node_resistance_curvature(),
        ollivier_ricci::ollivier_ricci(),
        ollivier_ricci_pairs::ollivier_ricci_pairs(),
        ollivier_ricci_pairs::ollivier_wasserstein(),
        regime::regime(),
        resistance::effective_resistance(),
        resistance::resistance_curvature(),
        ricci_flow::ricci_flow(),
        ricci_flow::ricci_flow_communities(),
        skewness::skewness(),
        skewness::skewness_adjusted(),
        skewness::skewness_sample(),
    ]
}
