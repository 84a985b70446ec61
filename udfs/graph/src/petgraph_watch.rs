//! How an algorithm of petgraph is stopped: the graph that it reads asks the monitor.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use petgraph::EdgeType;

use crate::{Monitor, Stopped, View};

/// Accesses between two questions to the monitor.
const EVERY: u32 = 1024;

/// Counts the accesses to a graph and asks a monitor now and then.
pub(crate) struct Watch<'a> {
    monitor: &'a dyn Monitor,
    accesses: AtomicU32,
}

impl Watch<'_> {
    /// Counts an access. When the monitor refuses to go on, unwinds to [`watched`]: petgraph's algorithms know no other way
    /// to end early. No hook for panics is called.
    pub(crate) fn tick(&self) {
        let accesses = self.accesses.load(Ordering::Relaxed).wrapping_add(1);
        self.accesses.store(accesses, Ordering::Relaxed);
        if accesses.is_multiple_of(EVERY)
            && let Err(reason) = self.monitor.check()
        {
            resume_unwind(Box::new(reason));
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
    monitor.check()?;
    let watch = Watch { monitor, accesses: AtomicU32::new(0) };
    // Nothing that the algorithm leaves half done outlives it: it owns its state and only reads the graph.
    catch_unwind(AssertUnwindSafe(|| algorithm(shorter(view).under(&watch)))).or_else(|panic| {
        match panic.downcast::<Stopped>() {
            Ok(reason) => Err(*reason),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// The view for as long as a watch lives.
fn shorter<'b, Ty, W>(view: View<'b, Ty, W>) -> View<'b, Ty, W> {
    view
}
