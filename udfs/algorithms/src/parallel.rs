//! Work shared between the threads of the caller's pool, each with a state of its own.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

/// Visits `0..items` in blocks of `block`, each thread with a state of its own, and answers the states. Which thread takes
/// which block is chance: combine the states by what does not depend on it, such as sums of integers. An item is a unit of the
/// monitor's progress.
pub(crate) fn shared<S: Send>(
    items: usize,
    block: usize,
    monitor: &dyn Monitor,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, Range<usize>) + Sync,
) -> Result<Vec<S>, Stopped> {
    monitor.expect(items as u64);
    let next = AtomicUsize::new(0);
    let work = |_| -> Result<S, Stopped> {
        let mut own = state();
        loop {
            let start = next.fetch_add(block, Ordering::Relaxed);
            if start >= items {
                return Ok(own);
            }
            monitor.check()?;
            let end = items.min(start + block);
            visit(&mut own, start..end);
            monitor.advance((end - start) as u64);
        }
    };
    let threads = rayon::current_num_threads().min(items.div_ceil(block).max(1));
    match threads {
        1 => Ok(vec![work(0)?]),
        _ => (0..threads).into_par_iter().with_max_len(1).map(work).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::shared;
    use bonnet_graph::Unmonitored;

    #[test]
    fn every_item_is_visited_once() {
        for items in [0, 1, 7, 1000] {
            let sums = shared(items, 7, &Unmonitored, || 0, |sum, range| *sum += range.sum::<usize>()).unwrap();
            assert_eq!(sums.into_iter().sum::<usize>(), items * items.saturating_sub(1) / 2);
        }
    }
}
