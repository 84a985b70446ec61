//! Descriptors of a graph: vectors that stand for it where sets of graphs are compared.

mod blocks;
mod clustering_histogram;
mod curvature_histogram;
mod cycle_counts;
mod degree_histogram;
mod laplacian_spectrum;
mod orbit_counts;
mod ranked;
mod subgraph_counts;
#[cfg(test)]
pub(crate) mod testing;
mod tridiagonal;

pub use clustering_histogram::{CLUSTERING_BINS, clustering_histogram};
pub use curvature_histogram::{Histogram, HistogramError};
pub use degree_histogram::degree_histogram;
pub use laplacian_spectrum::{SPECTRUM_BINS, laplacian_spectrum};
pub use orbit_counts::{ORBITS, mean_orbit_counts, orbit_counts};
pub use subgraph_counts::{LONGEST_CYCLE, Pattern, PatternCounts, subgraph_counts};

/// Counts as shares of their sum; all zero where there is nothing.
fn shares(counts: &[u64]) -> Vec<f64> {
    let total: u64 = counts.iter().sum();
    counts.iter().map(|&count| count as f64 / total.max(1) as f64).collect()
}
