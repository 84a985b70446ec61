//! What a running statement has to say beside its rows.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that whoever runs a statement should know and that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// The words for it, one line without a stop at its end.
    pub text: String,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Jobs that failed, whose rows have a status other than `ok`.
    FailedRuns,
}

/// The notices of the running statement, until somebody takes them.
#[derive(Debug, Default)]
pub struct Notices(Mutex<Vec<Notice>>);

/// Those of a statement that are kept: a call gives one.
const MOST: usize = 100;

impl Notices {
    /// Takes the notices that there are.
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut self.lock())
    }

    /// Adds one.
    pub(crate) fn add(&self, notice: Notice) {
        let mut notices = self.lock();
        if notices.len() < MOST {
            notices.push(notice);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Notice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
