//! Elimination in one front and the way back: dense symmetric matrices of `side` x `side`, column by column.

use std::ops::Range;

use bonnet_graph::{Monitor, Stopped};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

/// Columns that are eliminated before the rest is updated by a product.
pub(super) const PANEL: usize = 32;
/// Columns of a panel that are eliminated one by one before the rest of it is.
const STEP: usize = 8;
/// Fronts below this side are restored a vector at a time.
const SMALL: usize = 64;
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
        for first in (start..end).step_by(STEP) {
            let last = (first + STEP).min(end);
            for p in first..last {
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
                for q in p + 1..last {
                    let factor = share[q - p - 1];
                    if factor != 0.0 {
                        let target = &mut rest[(q - p - 1) * side + q + 1..(q - p) * side];
                        add_scaled(target, factor, &column[q - p..]);
                    }
                }
            }
            // The rest of the panel.
            let (done, rest) = front.split_at_mut(last * side);
            update(&done[first * side..], &mut rest[..(end - last) * side], side, first..last, last, shares);
        }
        let (done, rest) = front.split_at_mut(end * side);
        let panel = &done[start * side..];
        if side - end <= 2 * STRIPE {
            for (i, target) in rest.chunks_mut(side * STRIPE / 2).enumerate() {
                update(panel, target, side, start..end, end + i * STRIPE / 2, shares);
            }
        } else {
            rest.par_chunks_mut(side * STRIPE)
                .enumerate()
                .for_each(|(i, target)| update(panel, target, side, start..end, end + i * STRIPE, shares));
        }
    }
    Ok(())
}

/// Adds w_jk w_jl / d of the eliminated columns `gone` to the pairs k >= l of some columns, `from` the first of them.
fn update(panel: &[f64], target: &mut [f64], side: usize, gone: Range<usize>, from: usize, shares: &[f64]) {
    let columns = target.len() / side;
    if columns == 0 || from == side {
        return;
    }
    // Rows from the first of these columns on: a little above the diagonal is written, too, and never read.
    let below = side - from;
    let target = MatMut::from_column_major_slice_with_stride_mut(&mut target[from..], below, columns, side);
    let rows = MatRef::from_column_major_slice_with_stride(&panel[from..], below, gone.len(), side);
    let share = &shares[gone.start * side + from..];
    let share = MatRef::from_column_major_slice_with_stride(share, columns, gone.len(), side);
    matmul(target, Accum::Add, rows, share.transpose(), 1.0, Par::Seq);
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
        let panel = start..(start + PANEL).min(own);
        if panel.len() < STEP || side < SMALL {
            restore_one_by_one(front, side, panel, shares, inverses, work);
        } else {
            restore_panel(front, side, panel, shares, inverses);
        }
    }
    Ok(())
}

/// The columns `panel`, a vector at a time.
fn restore_one_by_one(
    front: &mut [f64],
    side: usize,
    panel: Range<usize>,
    shares: &[f64],
    inverses: &[f64],
    work: &mut Vec<f64>,
) {
    let (start, end) = (panel.start, panel.end);
    let rest = side - end;
    work.clear();
    work.resize(rest * panel.len(), 0.0);
    if rest > 0 {
        let share = MatRef::from_column_major_slice_with_stride(&shares[start * side + end..], rest, panel.len(), side);
        let rows = MatRef::from_column_major_slice_with_stride(&front[end * side + end..], rest, rest, side);
        let target = MatMut::from_column_major_slice_with_stride_mut(work, rest, panel.len(), rest);
        matmul(target, Accum::Replace, rows, share, 1.0, Par::Seq);
    }
    for p in panel.rev() {
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

/// The columns `panel` by products, which stripes of rows share.
///
/// With F the nodes after the panel, W = R_FF P_F, and c_q = 1/d_q - P'R P / 2 of a node q of the panel: the resistances to
/// F are R_Fp = W_p + c_p + sum_q P_qp R_Fq over the nodes q of the panel after p, which is W M + a number for each column.
/// What c needs is in the products W'P_F, of the panel's size.
fn restore_panel(front: &mut [f64], side: usize, panel: Range<usize>, shares: &[f64], inverses: &[f64]) {
    let (start, end, width) = (panel.start, panel.end, panel.len());
    let rest = side - end;
    let stripes = match rest {
        rest if rest <= 2 * STRIPE => 1,
        rest => rest.div_ceil(STRIPE),
    };
    let height = rest.div_ceil(stripes).max(1);
    let share = |from: usize, rows: usize| {
        let share = &shares[start * side + end + from..];
        MatRef::from_column_major_slice_with_stride(share, rows, width, side)
    };
    // A stripe of W, and its part of W'P_F.
    let product = |first: usize| {
        let height = height.min(rest - first);
        let mut own = vec![0.0; height * width];
        let mut gram = vec![0.0; width * width];
        let rows = &front[end * side + end + first..];
        let rows = MatRef::from_column_major_slice_with_stride(rows, height, rest, side);
        let target = MatMut::from_column_major_slice_with_stride_mut(&mut own, height, width, height);
        matmul(target, Accum::Replace, rows, share(0, rest), 1.0, Par::Seq);
        let own_rows = MatRef::from_column_major_slice_with_stride(&own, height, width, height);
        let target = MatMut::from_column_major_slice_with_stride_mut(&mut gram, width, width, width);
        matmul(target, Accum::Replace, own_rows.transpose(), share(first, height), 1.0, Par::Seq);
        (own, gram)
    };
    let products: Vec<(Vec<f64>, Vec<f64>)> = match stripes {
        _ if rest == 0 => Vec::new(),
        1 => vec![product(0)],
        _ => (0..rest).into_par_iter().step_by(height).map(product).collect(),
    };
    let mut gram = vec![0.0; width * width];
    for (_, part) in &products {
        add_scaled(&mut gram, 1.0, part);
    }

    // The panel itself, from its last node on. `gram`, row by column: X_q'P_p for X = R_F - c, once q is done.
    let p_of = |q: usize, p: usize| shares[(start + p) * side + start + q];
    let sums: Vec<f64> = (start..end).map(|p| sum(&shares[p * side + end..(p + 1) * side])).collect();
    let mut mix = vec![0.0; width * width];
    let (mut own, mut shift) = (vec![0.0; width], vec![0.0; width]);
    for p in (0..width).rev() {
        mix[p * width + p] = 1.0;
        for q in p + 1..width {
            let factor = p_of(q, p);
            if factor == 0.0 {
                continue;
            }
            shift[p] += factor * (own[q] + shift[q]);
            for r in q..width {
                mix[p * width + r] += factor * mix[q * width + r];
            }
            for r in 0..=p {
                gram[r * width + p] += factor * (own[q] * sums[r] + gram[r * width + q]);
            }
        }
        let mut near = [0.0; PANEL];
        let mut all = gram[p * width + p];
        for q in p + 1..width {
            let column = &front[(start + q) * side + start..][..width];
            let share = &shares[(start + p) * side + start..][..width];
            let within = dot(&column[p + 1..], &share[p + 1..]);
            near[q] = gram[p * width + q] + own[q] * sums[p] + within;
            all += near[q] * share[q];
        }
        own[p] = inverses[start + p] - 0.5 * all;
        front[(start + p) * side + start + p] = 0.0;
        for q in p + 1..width {
            let value = own[p] + near[q];
            front[(start + p) * side + start + q] = value;
            front[(start + q) * side + start + p] = value;
        }
    }

    // The rest: both triangles, as the next panels read rows of either.
    let (before, after) = front.split_at_mut(end * side);
    let mix = MatRef::from_column_major_slice_with_stride(&mix, width, width, width);
    let fill = |products: &[f64], rows: &mut [f64]| {
        let height = rows.len() / side;
        let mut found = vec![0.0; height * width];
        let target = MatMut::from_column_major_slice_with_stride_mut(&mut found, height, width, height);
        let products = MatRef::from_column_major_slice_with_stride(products, height, width, height);
        matmul(target, Accum::Replace, products, mix, 1.0, Par::Seq);
        for (p, column) in found.chunks_exact_mut(height).enumerate() {
            column.iter_mut().for_each(|value| *value += own[p] + shift[p]);
        }
        for (row, values) in rows.chunks_exact_mut(side).enumerate() {
            for (p, value) in values[start..end].iter_mut().enumerate() {
                *value = found[p * height + row];
            }
        }
        found
    };
    let found: Vec<Vec<f64>> = match products.as_slice() {
        [] => Vec::new(),
        [(one, _)] => vec![fill(one, after)],
        many => {
            many.par_iter().zip(after.par_chunks_mut(side * height)).map(|((one, _), rows)| fill(one, rows)).collect()
        }
    };
    for (i, found) in found.iter().enumerate() {
        for (p, column) in found.chunks_exact(found.len() / width).enumerate() {
            before[(start + p) * side + end + i * height..][..column.len()].copy_from_slice(column);
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
