//! How an algorithm of petgraph is stopped: the graph that it reads asks the monitor.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use petgraph::EdgeType;

use crate::{Monitor, Stopped, View};

/// Accesses between two questions to the monitor.
const EVERY: u64 = 1024;

/// Why an algorithm was unwound.
enum End {
    Stopped(Stopped),
    StepsSpent,
}

/// Counts the accesses to a graph and asks a monitor now and then.
pub(crate) struct Watch<'a> {
    monitor: &'a dyn Monitor,
    accesses: AtomicU64,
    most: u64,
}

impl Watch<'_> {
    /// Counts an access. When the monitor refuses to go on, or no further access is allowed, unwinds to [`watched_within`]:
    /// petgraph's algorithms know no other way to end early. No hook for panics is called.
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

/// Runs an algorithm of petgraph on a graph that asks `monitor` every 1024 accesses (lists of neighbours, edges of the whole
/// graph, questions of adjacency) whether to go on. An access costs at most O(degree) before the next.
///
/// # Errors
/// As soon as the monitor refuses; what the algorithm holds is dropped.
pub fn watched<'a, Ty: EdgeType, W, T>(
    view: View<'a, Ty, W>,
    monitor: &dyn Monitor,
    algorithm: impl FnOnce(View<'_, Ty, W>) -> T,
) -> Result<T, Stopped> {
    watched_within(view, u64::MAX, monitor, algorithm).map(|found| found.expect("accesses without end"))
}

/// As [`watched`], with `steps` accesses at most; `None` where they do not do.
///
/// # Errors
/// As soon as the monitor refuses; what the algorithm holds is dropped.
pub fn watched_within<'a, Ty: EdgeType, W, T>(
    view: View<'a, Ty, W>,
    steps: u64,
    monitor: &dyn Monitor,
    algorithm: impl FnOnce(View<'_, Ty, W>) -> T,
) -> Result<Option<T>, Stopped> {
    monitor.check()?;
    let watch = Watch { monitor, accesses: AtomicU64::new(0), most: steps };
    // Nothing that the algorithm leaves half done outlives it: it owns its state and only reads the graph.
    match catch_unwind(AssertUnwindSafe(|| algorithm(shorter(view).under(&watch)))) {
        Ok(found) => Ok(Some(found)),
        Err(panic) => match panic.downcast::<End>() {
            Ok(end) => match *end {
                End::Stopped(reason) => Err(reason),
                End::StepsSpent => Ok(None),
            },
            Err(panic) => resume_unwind(panic),
        },
    }
}

/// The view for as long as a watch lives.
fn shorter<'b, Ty, W>(view: View<'b, Ty, W>) -> View<'b, Ty, W> {
    view
}
