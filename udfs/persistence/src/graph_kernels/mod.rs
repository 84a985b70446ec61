//! Kernels and distances between the graphs of a set, as the values of all pairs.

mod assignment;
mod features;
mod gram;
mod neural_tangent;
mod shortest_path;
#[cfg(test)]
mod testing;
mod tree_movers;
mod two_sample_test;
mod wl_subtree;
mod wl_wasserstein;

pub use gram::PairValues;
pub use neural_tangent::{NeuralTangentOptions, graph_neural_tangent_kernel};
pub use shortest_path::shortest_path_kernel;
pub use tree_movers::tree_movers_distance;
pub use two_sample_test::{KernelTest, kernel_two_sample_test};
pub use wl_subtree::wl_subtree_kernel;
pub use wl_wasserstein::{WlWassersteinError, wl_wasserstein_distance};
