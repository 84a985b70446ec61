//! The curvatures as SQL functions.

mod edges;
mod nodes;
mod strata;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = vec![nodes::midpoint_curvature(), edges::forman_ricci(), strata::regime()];
    functions.extend(strata::skewnesses());
    functions
}
