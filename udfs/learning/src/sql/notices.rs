//! What the calls of a running statement have to say beside its rows.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Jobs of a call that failed, whose rows have a status other than `ok`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRuns {
    /// The function: `train`, `predict`, `embed` or `training_curve`.
    pub function: &'static str,
    /// How many jobs failed, at least one.
    pub failed: usize,
    /// How many jobs there were.
    pub jobs: usize,
    /// The error of the first of them that failed, in the order of the jobs.
    pub reason: String,
}

impl std::fmt::Display for FailedRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { function, failed, jobs, reason } = self;
        write!(f, "{function}: {failed} of {jobs} runs failed: {reason}")
    }
}

/// The failed runs of a session's running statement, until somebody takes them. An extension of the session's configuration:
/// without it nothing is said.
#[derive(Debug, Default)]
pub struct Notices(Mutex<Vec<FailedRuns>>);

impl Notices {
    /// Takes what there is, an entry for each call that ended with failed runs.
    pub fn take(&self) -> Vec<FailedRuns> {
        std::mem::take(&mut self.lock())
    }

    pub(super) fn add(&self, runs: FailedRuns) {
        self.lock().push(runs);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<FailedRuns>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
