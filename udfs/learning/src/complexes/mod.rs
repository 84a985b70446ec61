//! Simplicial complexes as training data: their features and operators by dimension.

mod batch;
mod features;
mod operators;
mod pairs;

pub use batch::ComplexBatch;
pub use features::SimplexFeatures;
#[cfg(feature = "sql")]
pub(crate) use features::stand_ins;
pub(crate) use features::widths;
pub use operators::LaplacianPart;
pub(crate) use operators::Operators;
pub use pairs::Pairs;
