//! Pre-training as a function of SQL, and what its encoders stand on.

mod pretrain;
mod sources;

pub(super) use pretrain::pretrain;
pub(super) use sources::{Standing, of_target};
