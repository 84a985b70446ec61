//! Elimination in one front and the way back: dense symmetric matrices of `side` x `side`, column by column.

use bonnet_graph::{Monitor, Stopped};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

/// Columns that are eliminated one by one before the rest is updated by a product.
const PANEL: usize = 32;
/// Columns of a large product that a thread takes at once.
const STRIPE: usize = 128;

/// Eliminates the first `own` nodes of a front of conductances, of which the part below the diagonal counts.
///
/// Leaves the conductances between the others in their place. Fills `shares`, `side` x `own`, with P_k = w_jk / d below the
/// diagonal, and `inverses` with 1/d, where d is the sum of w_jk over the nodes k that are left: never a difference.
pub(super) fn eliminate(
    front: &mut [f64],
    side: usize,
    own: usize,
    shares: &mut [f64],
    inverses: &mut [f64],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for start in (0..own).step_by(PANEL) {
        monitor.check()?;
        let end = (start + PANEL).min(own);
        for p in start..end {
            let (done, rest) = front.split_at_mut((p + 1) * side);
            let column = &done[p * side + p + 1..];
            let share = &mut shares[p * side + p + 1..(p + 1) * side];
            let sum = sum(column);
            // The last node of a component has nothing left.
            let inverse = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            inverses[p] = inverse;
            for (share, w) in share.iter_mut().zip(column) {
                *share = w * inverse;
            }
            for q in p + 1..end {
                let factor = share[q - p - 1];
                if factor != 0.0 {
                    let target = &mut rest[(q - p - 1) * side + q + 1..(q - p) * side];
                    add_scaled(target, factor, &column[q - p..]);
                }
            }
        }
        update(front, side, start, end, shares);
    }
    Ok(())
}

/// Adds w_jk w_jl / d of the eliminated columns `start..end` to all pairs k >= l after them.
fn update(front: &mut [f64], side: usize, start: usize, end: usize, shares: &[f64]) {
    if end == side {
        return;
    }
    let (done, rest) = front.split_at_mut(end * side);
    let panel = &done[start * side..];
    let stripe = |first: usize, target: &mut [f64]| {
        let columns = target.len() / side;
        // Rows from the first of these columns on: a little above the diagonal is written, too, and never read.
        let from = end + first;
        let below = side - from;
        let target = MatMut::from_column_major_slice_with_stride_mut(&mut target[from..], below, columns, side);
        let rows = MatRef::from_column_major_slice_with_stride(&panel[from..], below, end - start, side);
        let share = &shares[start * side + from..];
        let share = MatRef::from_column_major_slice_with_stride(share, columns, end - start, side);
        matmul(target, Accum::Add, rows, share.transpose(), 1.0, Par::Seq);
    };
    if side - end <= 2 * STRIPE {
        for (i, target) in rest.chunks_mut(side * STRIPE / 2).enumerate() {
            stripe(i * STRIPE / 2, target);
        }
    } else {
        rest.par_chunks_mut(side * STRIPE).enumerate().for_each(|(i, target)| stripe(i * STRIPE, target));
    }
}

/// The way back: `front` has the resistances between the nodes from `own` on; fills in those of the first `own` nodes, to
/// each other and to the rest.
///
/// With the nodes k that were left when j went: R_jk = 1/d + (R P)_k - P'R P / 2.
pub(super) fn restore(
    front: &mut [f64],
    side: usize,
    own: usize,
    shares: &[f64],
    inverses: &[f64],
    work: &mut Vec<f64>,
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let mut start = own.div_ceil(PANEL) * PANEL;
    while start > 0 {
        monitor.check()?;
        start -= PANEL;
        let end = (start + PANEL).min(own);
        product(front, side, start, end, shares, work);
        let rest = side - end;
        for p in (start..end).rev() {
            let share = &shares[p * side..(p + 1) * side];
            let inverse = inverses[p];
            // T = R P over the nodes after p: those of the panel, and the rest.
            let mut near = [0.0; PANEL];
            let (before, after) = front.split_at_mut((p + 1) * side);
            let far = &mut work[(p - start) * rest..(p - start + 1) * rest];
            for q in p + 1..end {
                let column = &after[(q - p - 1) * side..(q - p) * side];
                add_scaled(far, share[q], &column[end..]);
                near[q - start] = dot(&column[end..], &share[end..]) + dot(&column[p + 1..end], &share[p + 1..end]);
            }
            let half = 0.5 * (dot(far, &share[end..]) + dot(&near[p + 1 - start..end - start], &share[p + 1..end]));
            let column = &mut before[p * side..];
            column[p] = 0.0;
            for (value, t) in column[p + 1..end].iter_mut().zip(&near[p + 1 - start..]) {
                *value = inverse + (t - half);
            }
            for (value, t) in column[end..].iter_mut().zip(&*far) {
                *value = inverse + (t - half);
            }
            for (q, value) in column[p + 1..].iter().enumerate() {
                after[q * side + p] = *value;
            }
        }
    }
    Ok(())
}

/// Puts R P of the nodes from `end` on into `work`, a column for each of the columns `start..end`.
fn product(front: &[f64], side: usize, start: usize, end: usize, shares: &[f64], work: &mut Vec<f64>) {
    let (rest, panel) = (side - end, end - start);
    work.clear();
    work.resize(rest * panel, 0.0);
    if rest == 0 {
        return;
    }
    let share = MatRef::from_column_major_slice_with_stride(&shares[start * side + end..], rest, panel, side);
    let rows = |first: usize, target: MatMut<'_, f64>| {
        let rows = &front[end * side + end + first..];
        let rows = MatRef::from_column_major_slice_with_stride(rows, target.nrows(), rest, side);
        matmul(target, Accum::Replace, rows, share, 1.0, Par::Seq);
    };
    if rest <= 2 * STRIPE {
        rows(0, MatMut::from_column_major_slice_with_stride_mut(work, rest, panel, rest));
        return;
    }
    let stripes: Vec<Vec<f64>> = (0..rest)
        .into_par_iter()
        .step_by(STRIPE)
        .map(|first| {
            let height = STRIPE.min(rest - first);
            let mut own = vec![0.0; height * panel];
            rows(first, MatMut::from_column_major_slice_with_stride_mut(&mut own, height, panel, height));
            own
        })
        .collect();
    for (i, stripe) in stripes.iter().enumerate() {
        let height = STRIPE.min(rest - i * STRIPE);
        for (column, values) in stripe.chunks_exact(height).enumerate() {
            work[column * rest + i * STRIPE..][..height].copy_from_slice(values);
        }
    }
}

fn add_scaled(target: &mut [f64], factor: f64, values: &[f64]) {
    for (target, value) in target.iter_mut().zip(values) {
        *target += factor * value;
    }
}

fn sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for block in blocks {
        for (sum, value) in sums.iter_mut().zip(block) {
            *sum += value;
        }
    }
    sums.iter().chain(rest).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
