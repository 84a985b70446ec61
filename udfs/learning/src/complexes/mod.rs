//! Simplicial complexes as training data: their features and operators by dimension.

mod batch;
mod features;
mod set;

pub use batch::{ComplexBatch, LaplacianPart};
#[cfg(feature = "sql")]
pub(crate) use features::STAND_INS;
pub use features::SimplexFeatures;
pub(crate) use features::widths;
pub use set::{ComplexSet, Complexes};
