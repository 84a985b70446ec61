//! Work on blocks of nodes, in parallel where there is much of it.

use std::ops::Range;

use bonnet_graph::Stopped;
use rayon::prelude::*;

/// The work that is worth a second thread: about a millisecond.
const PARALLEL: usize = 1 << 18;

/// The most blocks.
const BLOCKS: usize = 512;

/// Calls `body` with blocks that cover `0..n`; `work` is about how many steps all of it takes. Each thread has scratch
/// of its own.
pub(super) fn for_each_block<S>(
    n: usize,
    work: usize,
    scratch: impl Fn() -> S + Send + Sync,
    body: impl Fn(&mut S, Range<usize>) -> Result<(), Stopped> + Send + Sync,
) -> Result<(), Stopped> {
    if work < PARALLEL {
        return body(&mut scratch(), 0..n);
    }
    let size = n.div_ceil(BLOCKS).max(1);
    let block = |start: usize| start..n.min(start + size);
    let starts: Vec<usize> = (0..n).step_by(size).collect();
    starts.into_par_iter().try_for_each_init(scratch, |scratch, start| body(scratch, block(start)))
}
