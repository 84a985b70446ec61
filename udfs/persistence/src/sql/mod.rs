//! The functions of this crate in SQL.

mod clustering;
mod columns;
mod descriptors;
mod diagram;
mod distance;
mod filtration;
mod landscape;
mod mmd;
mod permutation_test;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = vec![
        filtration::persistence_diagram(),
        filtration::vertex_persistence_diagram(),
        diagram::betti_curve(),
        distance::bottleneck_distance(),
        distance::wasserstein_distance(),
        landscape::persistence_landscape(),
        landscape::landscape_mean(),
        landscape::landscape_norm(),
        landscape::landscape_distance(),
        permutation_test::permutation_test(),
        mmd::function(),
    ];
    functions.extend(descriptors::functions());
    functions.extend(clustering::functions());
    functions
}
