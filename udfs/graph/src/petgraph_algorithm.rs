//! Algorithms of petgraph under a monitor: the graph that they read asks it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use petgraph::EdgeType;

use crate::petgraph_watch::{End, Watch};
use crate::{Monitor, Stopped, View};

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
    // So many accesses take centuries.
    watched_within(view, u64::MAX, monitor, algorithm)?.ok_or(Stopped::Cancelled)
}

/// What an algorithm of petgraph answers on a graph under a watch, within `steps` accesses; `None` where they do not suffice.
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
    let watch = Watch::new(monitor, steps);
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
