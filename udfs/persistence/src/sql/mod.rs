//! The functions of this crate in SQL.

mod adjusted_rand_index;
mod betti_curve;
mod columns;
mod descriptors;
mod distance;
mod earth_movers_distance;
mod filtration;
mod filtration_bounds;
mod graph_kernels;
mod graph_set;
mod kernel_two_sample_test;
mod landscape;
mod mmd;
mod pair_matrix;
mod permutation;
mod spectral_clustering;
mod subgraph_counts;
mod wl_colors;
mod wl_hash;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        adjusted_rand_index::adjusted_rand_index(),
        adjusted_rand_index::purity(),
        betti_curve::betti_curve(),
        descriptors::degree_histogram(),
        descriptors::clustering_histogram(),
        descriptors::laplacian_spectrum(),
        descriptors::orbit_counts(),
        descriptors::curvature_histogram(),
        distance::bottleneck_distance(),
        distance::wasserstein_distance(),
        earth_movers_distance::earth_movers_distance(),
        filtration::persistence_diagram(),
        filtration::vertex_persistence_diagram(),
        filtration_bounds::filtration_bounds(),
        graph_kernels::graph_neural_tangent_kernel(),
        graph_kernels::shortest_path_kernel(),
        graph_kernels::tree_movers_distance(),
        graph_kernels::wl_subtree_kernel(),
        graph_kernels::wl_wasserstein_distance(),
        kernel_two_sample_test::kernel_two_sample_test(),
        landscape::landscape_distance(),
        landscape::landscape_mean(),
        landscape::landscape_norm(),
        landscape::persistence_landscape(),
        mmd::mmd(),
        permutation::permutation_test(),
        spectral_clustering::spectral_clustering(),
        subgraph_counts::subgraph_counts(),
        wl_colors::wl_colors(),
        wl_hash::wl_hash(),
    ]
}
