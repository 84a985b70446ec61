//! The numerical kernels: fused sparse and dense products on preallocated `f32` buffers, forward and backward.
//!
//! Matrices are row-major; the number of stored columns (the *stride*) is a multiple of 8, padding columns hold zeros.
//! A kernel works on a [`RowSet`] and touches no other row. Rows are cut into blocks by their global number: an output
//! row belongs to one task, and sums over rows are formed per block and added in the order of the blocks, so results
//! depend neither on the number of threads nor on which other rows are computed.

pub mod attention;
pub mod combine;
pub mod dense;
pub(crate) mod doubles;
pub mod edge;
pub mod elementwise;
pub mod exp;
pub mod loss;
pub mod low_rank;
pub mod pairs;
pub mod parallel;
pub mod pooling;
pub mod propagate;
pub mod rows;
pub mod simd;
pub mod sparse;
pub mod strip;

pub use elementwise::Activation;
pub use rows::RowSet;
pub use sparse::Csr;
pub use strip::Strip;
