//! Simplicial complexes as training data: their features and operators by dimension.

mod batch;
mod features;
mod operators;
mod pairs;
mod set;

pub use batch::ComplexBatch;
#[cfg(feature = "sql")]
pub(crate) use features::STAND_INS;
pub use features::SimplexFeatures;
pub(crate) use features::widths;
pub use operators::LaplacianPart;
pub(crate) use operators::Operators;
pub use pairs::Pairs;
pub use set::{ComplexSet, Complexes};
