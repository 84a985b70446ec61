//! Jobs as runs: which are trained together, and what each comes to.

mod completed;
mod groups;

pub(super) use completed::{CompletedRun, Failure, train_jobs};
pub(super) use groups::groups;
