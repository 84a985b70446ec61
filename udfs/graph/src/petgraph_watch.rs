//! The count of an algorithm's accesses to a graph, by which it is stopped.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Monitor, Stopped};

/// Accesses between two questions to the monitor.
const EVERY: u64 = 1024;

/// Why an algorithm was unwound.
pub(crate) enum End {
    Stopped(Stopped),
    StepsSpent,
}

/// Counts the accesses to a graph and asks a monitor now and then.
pub(crate) struct Watch<'a> {
    monitor: &'a dyn Monitor,
    accesses: AtomicU64,
    most: u64,
}

impl<'a> Watch<'a> {
    /// A watch that allows `most` accesses.
    pub(crate) fn new(monitor: &'a dyn Monitor, most: u64) -> Self {
        Self { monitor, accesses: AtomicU64::new(0), most }
    }

    /// Counts an access. When the monitor refuses to go on, or no further access is allowed, unwinds to
    /// [`watched_within`](crate::watched_within): petgraph's algorithms know no other way to end early. No hook for panics
    /// is called.
    pub(crate) fn tick(&self) {
        let accesses = self.accesses.load(Ordering::Relaxed);
        if accesses == self.most {
            resume_unwind(Box::new(End::StepsSpent));
        }
        self.accesses.store(accesses + 1, Ordering::Relaxed);
        if (accesses + 1).is_multiple_of(EVERY)
            && let Err(reason) = self.monitor.check()
        {
            resume_unwind(Box::new(End::Stopped(reason)));
        }
    }
}
