//! Filtrations, persistence diagrams, landscapes, and comparisons of graphs and of sets of graphs: plain Rust, no Arrow, no SQL.
//!
//! A graph with a value on each edge or vertex has a persistence diagram ([`Point`]s), a diagram has a [`Landscape`] in each
//! dimension, landscapes have means, norms and distances, and two sets of diagrams can be told apart by a
//! [`permutation_test`]. Everything is exact: no grid, no truncation, no approximate matching.
//!
//! * Diagrams: [`persistence_diagram`] of values on edges, [`vertex_persistence_diagram`] of values on vertices.
//! * Between diagrams: [`bottleneck_distance`], [`wasserstein_distance`], [`landscape_distance`]; checks of theorems about them:
//!   [`filtration_bounds`].
//! * Between sets: [`permutation_test`], [`mmd`], [`kernel_two_sample_test`], [`spectral_clustering`].
//! * Between graphs: [`wl_subtree_kernel`], [`shortest_path_kernel`], [`graph_neural_tangent_kernel`],
//!   [`wl_wasserstein_distance`], [`tree_movers_distance`]; between lists of numbers: [`earth_movers_distance`].
//! * Descriptors of graphs: [`degree_histogram`], [`clustering_histogram`], [`laplacian_spectrum`], [`orbit_counts`];
//!   [`subgraph_counts`], which follow from orbits.
//! * Colours of nodes, by which graphs are told apart: [`wl_colors`], [`wl_hash`]. Although they are values of nodes, they stand here:
//!   they are comparable between the graphs of a [`GraphSet`], kernels of graphs are made of them, and they may begin with the counts
//!   of orbits.
//!
//! ```
//! use bonnet_graph::Unmonitored;
//! use bonnet_persistence::{FiltrationOptions, betti_curve, persistence_diagram};
//!
//! // A square whose edges come one after the other: the last closes a cycle, which never dies.
//! let edges = [(0, 1), (1, 2), (2, 3), (0, 3)];
//! let options = FiltrationOptions::default();
//! let diagram = persistence_diagram(4, &edges, &[1.0, 2.0, 3.0, 4.0], &options, &Unmonitored).unwrap();
//! assert_eq!(betti_curve(&diagram, 1, 3.5), 0);
//! assert_eq!(betti_curve(&diagram, 1, 4.0), 1);
//! ```
//!
//! # Floors
//!
//! 1. `adjusted_rand_index`, `descriptors`, `diagram`, `earth_movers_distance`, `mmd`, `spectral_clustering`: diagrams;
//!    descriptors and their comparison.
//! 2. `betti_curve`, `bottleneck_distance`, `colors`, `filtration`, `landscape`, `purity`: filtrations; what is read from a
//!    diagram; colours of nodes.
//! 3. `cycles`, `graph_kernels`, `landscape_mean`, `landscape_norm`, `wasserstein_distance`: cycles of a filtration;
//!    kernels of graphs by their colours; landscapes and distances.
//! 4. `flag`, `landscape_distance`, `permutation`: flag complexes; tests on landscapes.
//! 5. `persistence_diagram`, `vertex_persistence_diagram`: diagrams of graphs.
//! 6. `filtration_bounds`: theorems about diagrams of graphs.
//! 7. `sql`: their registrations.

mod adjusted_rand_index;
mod betti_curve;
mod bottleneck_distance;
mod colors;
mod cycles;
mod descriptors;
mod diagram;
mod earth_movers_distance;
mod filtration;
mod filtration_bounds;
mod flag;
mod graph_kernels;
mod landscape;
mod landscape_distance;
mod landscape_mean;
mod landscape_norm;
mod mmd;
mod permutation;
mod persistence_diagram;
mod purity;
mod spectral_clustering;
mod vertex_persistence_diagram;
mod wasserstein_distance;

pub use adjusted_rand_index::{Contingency, adjusted_rand_index};
pub use betti_curve::betti_curve;
pub use bottleneck_distance::bottleneck_distance;
pub use colors::{GraphSet, Substructures, WlDimension, WlOptions, wl_colors, wl_hash};
pub use descriptors::{
    CLUSTERING_BINS, Histogram, HistogramError, LONGEST_CYCLE, ORBITS, Pattern, PatternCounts, SPECTRUM_BINS,
    clustering_histogram, degree_histogram, laplacian_spectrum, mean_orbit_counts, orbit_counts, subgraph_counts,
};
pub use diagram::{BadPoint, Point, check_diagram};
pub use earth_movers_distance::earth_movers_distance;
pub use filtration::{Complex, Direction, Essential, FiltrationError, FiltrationOptions, Vertices};
pub use filtration_bounds::{FiltrationBound, FiltrationStatement, filtration_bounds};
pub use graph_kernels::{
    KernelTest, NeuralTangentOptions, PairValues, WlWassersteinError, graph_neural_tangent_kernel,
    kernel_two_sample_test, shortest_path_kernel, tree_movers_distance, wl_subtree_kernel, wl_wasserstein_distance,
};
pub use landscape::{Landscape, persistence_landscape};
pub use landscape_distance::landscape_distance;
pub use landscape_mean::landscape_mean;
pub use landscape_norm::{Exponent, landscape_norm};
pub use mmd::{Kernel, MmdError, mmd};
pub use permutation::{PermutationTest, permutation_test};
pub use persistence_diagram::persistence_diagram;
pub use purity::purity;
pub use spectral_clustering::{Affinities, ClusteringError, spectral_clustering};
pub use vertex_persistence_diagram::vertex_persistence_diagram;
pub use wasserstein_distance::wasserstein_distance;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
