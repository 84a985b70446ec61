//! What comes of runs of `train` that failed, which are rows and no errors.

use std::process::ExitCode;

use clap::Args;

/// The status of a process whose scripts ran to their ends, though runs failed and it was to say so.
const FAILED_RUNS: u8 = 3;

/// The option of the tasks that run scripts.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(super) struct FailedRuns {
    /// End with status 3 after a script in which runs of train, predict, embed or training_curve failed: each is a row with
    /// its status and error, and the script goes on
    #[arg(long)]
    fail_on_failed_runs: bool,
}

impl FailedRuns {
    /// The status of a process without errors; `failed` says whether runs failed.
    pub(super) fn status(self, failed: bool) -> ExitCode {
        if self.fail_on_failed_runs && failed { ExitCode::from(FAILED_RUNS) } else { ExitCode::SUCCESS }
    }
}
