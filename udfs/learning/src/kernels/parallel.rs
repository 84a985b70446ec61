//! Blocks of rows as tasks of the caller's rayon pool.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use super::rows::RowSet;

/// Calls `body(rows, first row of the chunk, chunk, extra)` for every block that holds rows of the set. The chunk is the
/// block's part of `out`, a matrix of `stride` columns; `extras` has one item a block. Asks the monitor before each block.
pub fn for_each_block_with<T: Send, E: Send>(
    set: &RowSet,
    out: &mut [T],
    stride: usize,
    extras: &mut [E],
    monitor: &dyn Monitor,
    body: impl Fn(&[u32], usize, &mut [T], &mut E) + Sync,
) -> Result<(), Stopped> {
    let span = set.span();
    let one = |(block, (chunk, extra)): (usize, (&mut [T], &mut E))| {
        let rows = set.block(block);
        if rows.is_empty() {
            return Ok(());
        }
        monitor.check()?;
        body(rows, block * span, chunk, extra);
        Ok(())
    };
    // Too small a set, or too narrow a pool, for tasks to pay.
    if set.len() < 256 || rayon::current_num_threads() == 1 {
        out.chunks_mut(span * stride).zip(extras).enumerate().try_for_each(one)
    } else {
        out.par_chunks_mut(span * stride).zip(extras).enumerate().try_for_each(one)
    }
}

/// [`for_each_block_with`] without extras.
pub fn for_each_block<T: Send>(
    set: &RowSet,
    out: &mut [T],
    stride: usize,
    monitor: &dyn Monitor,
    body: impl Fn(&[u32], usize, &mut [T]) + Sync,
) -> Result<(), Stopped> {
    // At most 64 blocks: see `block_rows`.
    let extras = &mut [(); 64][..set.n_blocks()];
    for_each_block_with(set, out, stride, extras, monitor, |rows, first, chunk, ()| body(rows, first, chunk))
}

/// The sum over the rows of a set of something of `width` numbers: `body(rows, partial)` adds a block's share to a
/// zeroed partial sum, and the partial sums are added in the order of the blocks. Blocks without rows count as zero.
/// `partials` has room for `n_blocks * width`; the sum replaces the first `width` values of `out`.
pub fn sum_blocks(
    set: &RowSet,
    width: usize,
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
    body: impl Fn(&[u32], &mut [f32]) + Sync,
) -> Result<(), Stopped> {
    let one = |(block, partial): (usize, &mut [f32])| {
        let rows = set.block(block);
        if rows.is_empty() {
            return Ok(());
        }
        monitor.check()?;
        partial.fill(0.0);
        body(rows, partial);
        Ok(())
    };
    let blocks = set.n_blocks();
    if set.len() < 256 || rayon::current_num_threads() == 1 {
        partials.chunks_mut(width).take(blocks).enumerate().try_for_each(one)?;
    } else {
        partials.par_chunks_mut(width).take(blocks).enumerate().try_for_each(one)?;
    }
    out[..width].fill(0.0);
    for (block, partial) in partials.chunks(width).take(blocks).enumerate() {
        if !set.block(block).is_empty() {
            out.iter_mut().zip(partial).for_each(|(sum, part)| *sum += part);
        }
    }
    Ok(())
}
