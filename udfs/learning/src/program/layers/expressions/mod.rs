//! Layers that are expressions of rows or of their neighbours, and their kernels.

mod columns;
pub mod composed;
pub mod expression;
pub(crate) mod first_columns;
pub mod hop_kernel;
pub mod row_kernel;
pub(crate) mod sinusoidal_code;
