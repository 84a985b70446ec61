//! The models: one file each in the folder of its family, with its registration `SPEC` and its equations as a
//! [`crate::program`].
//!
//! To add a model: such a file, and its line in [`crate::models()`].

pub mod baselines;
pub mod complexes;
pub mod curved;
pub(crate) mod foundation;
pub mod heterophily;
pub mod message_passing;
mod problem;
pub mod propagation;
pub(crate) mod registry;
mod resolve;
pub(crate) mod spec;
pub mod tokens;
pub mod typed;

pub use problem::Problem;
pub use registry::{is_pretrained, model, models, reads_types};
pub use spec::ModelSpec;
