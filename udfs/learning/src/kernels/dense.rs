//! Dense products on row-major matrices, in register tiles. Every sum runs over its terms in order with one accumulator,
//! so the result does not depend on how rows are grouped.

use bonnet_graph::{Monitor, Stopped};

use super::elementwise::{Finish, Gate};
use super::parallel::{for_each_block, sum_blocks};
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors, axpy};
use super::sparse::store;

/// What happens to a row of a product.
#[derive(Debug, Clone, Copy)]
pub enum Then<'a> {
    /// Forward: bias, activation, dropout.
    Finish(Finish<'a>),
    /// Backward: the gradient passes an activation and its dropout.
    Gate(Gate<'a>),
}

/// `out[r] = then(a[r] * w)` for the rows of a set: `a` has `k` columns, `w` is `k x n`, `n` a multiple of 8.
/// O(rows * k * n).
#[expect(clippy::too_many_arguments, reason = "the operands of a matrix product with their sizes")]
pub fn product(
    set: &RowSet,
    a: &[f32],
    k: usize,
    w: &[f32],
    n: usize,
    then: Then<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for_each_block(set, out, n, monitor, |rows, first, chunk| {
        simd::run(Rows { rows, first, a, k, w, n, then, out: chunk });
    })
}

struct Rows<'a> {
    rows: &'a [u32],
    first: usize,
    a: &'a [f32],
    k: usize,
    w: &'a [f32],
    n: usize,
    then: Then<'a>,
    out: &'a mut [f32],
}

impl Body for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, a, k, w, n, then, out } = self;
        let mut groups = rows.chunks_exact(4);
        for group in &mut groups {
            let group = [group[0], group[1], group[2], group[3]];
            let mut at = 0;
            while at < n {
                at += if n - at >= 16 {
                    tile::<V, 4, 2>(group, first, a, k, w, n, at, out)
                } else {
                    tile::<V, 4, 1>(group, first, a, k, w, n, at, out)
                };
            }
        }
        for &row in groups.remainder() {
            let mut at = 0;
            while at < n {
                at += if n - at >= 16 {
                    tile::<V, 1, 2>([row], first, a, k, w, n, at, out)
                } else {
                    tile::<V, 1, 1>([row], first, a, k, w, n, at, out)
                };
            }
        }
        for &row in rows {
            let values = &mut out[(row as usize - first) * n..][..n];
            match then {
                Then::Finish(finish) => finish.row::<V>(row, values),
                Then::Gate(gate) => gate.row::<V>(row, values),
            }
        }
    }
}

/// `R` rows by `8 * L` columns; returns the number of columns.
#[expect(clippy::too_many_arguments, reason = "the operands of a matrix product with their sizes")]
#[inline(always)]
fn tile<V: Vectors, const R: usize, const L: usize>(
    rows: [u32; R],
    first: usize,
    a: &[f32],
    k: usize,
    w: &[f32],
    n: usize,
    at: usize,
    out: &mut [f32],
) -> usize {
    let a_rows: [&[f32]; R] = rows.map(|row| &a[row as usize * k..][..k]);
    let mut acc = [[[0.0f32; 8]; L]; R];
    for (i, w_row) in w.chunks_exact(n).take(k).enumerate() {
        let w_row = &w_row[at..at + 8 * L];
        for r in 0..R {
            let factor = a_rows[r][i];
            for l in 0..L {
                axpy::<V>(factor, &w_row[8 * l..8 * l + 8], &mut acc[r][l]);
            }
        }
    }
    for r in 0..R {
        store(&acc[r], &mut out[(rows[r] as usize - first) * n + at..][..8 * L]);
    }
    8 * L
}

/// `out = sum over the rows of a set of a[r]' g[r]`, a `k x n` matrix: the gradient of the weights of [`product`].
/// `partials` has room for `n_blocks * k * n`. O(rows * k * n).
#[expect(clippy::too_many_arguments, reason = "the operands of a matrix product with their sizes")]
pub fn transposed_product(
    set: &RowSet,
    a: &[f32],
    k: usize,
    g: &[f32],
    n: usize,
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    sum_blocks(set, k * n, partials, out, monitor, |rows, partial| {
        simd::run(Outer { rows, a, k, g, n, partial });
    })
}

struct Outer<'a> {
    rows: &'a [u32],
    a: &'a [f32],
    k: usize,
    g: &'a [f32],
    n: usize,
    partial: &'a mut [f32],
}

impl Body for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, a, k, g, n, partial } = self;
        let mut from = 0;
        while from < k {
            let mut at = 0;
            let wide = k - from >= 4;
            while at < n {
                at += match (wide, n - at >= 16) {
                    (true, true) => outer_tile::<V, 4, 2>(rows, a, k, from, g, n, at, partial),
                    (true, false) => outer_tile::<V, 4, 1>(rows, a, k, from, g, n, at, partial),
                    (false, true) => outer_tile::<V, 1, 2>(rows, a, k, from, g, n, at, partial),
                    (false, false) => outer_tile::<V, 1, 1>(rows, a, k, from, g, n, at, partial),
                };
            }
            from += if wide { 4 } else { 1 };
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the operands of a matrix product with their sizes")]
#[inline(always)]
fn outer_tile<V: Vectors, const R: usize, const L: usize>(
    rows: &[u32],
    a: &[f32],
    k: usize,
    from: usize,
    g: &[f32],
    n: usize,
    at: usize,
    partial: &mut [f32],
) -> usize {
    let mut acc: [[Lanes; L]; R] = [[[0.0f32; 8]; L]; R];
    for &row in rows {
        let factors = &a[row as usize * k + from..][..R];
        let g_row = &g[row as usize * n + at..][..8 * L];
        for r in 0..R {
            for l in 0..L {
                axpy::<V>(factors[r], &g_row[8 * l..8 * l + 8], &mut acc[r][l]);
            }
        }
    }
    for r in 0..R {
        store(&acc[r], &mut partial[(from + r) * n + at..][..8 * L]);
    }
    8 * L
}

/// The transpose of a `k x n` matrix.
pub fn transpose(w: &[f32], k: usize, n: usize, out: &mut [f32]) {
    for i in 0..k {
        for j in 0..n {
            out[j * k + i] = w[i * n + j];
        }
    }
}
