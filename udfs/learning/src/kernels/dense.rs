//! Dense products on row-major matrices, in register tiles over blocks that stay in the caches. Every sum runs over its
//! terms in order with one accumulator, so the result depends neither on how rows are grouped nor on the size of a tile.

use std::borrow::Cow;

use bonnet_graph::{Monitor, Stopped};

use super::elementwise::{Finish, Gate};
use super::parallel::{for_each_block, sum_blocks};
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors};
use super::strip::Strip;
use crate::ground::random::Dropout;

/// The last step of a product on each of its rows.
#[derive(Debug, Clone, Copy)]
pub enum Then<'a> {
    /// Forward: bias, activation, dropout.
    Finish(Finish<'a>),
    /// Backward: the gradient passes an activation and its dropout.
    Gate(Gate<'a>),
    /// Backward: the gradient is added to what the output holds.
    Add,
}

/// The left side of a product: rows of stored columns, as they are or under a dropout mask, which is computed on the fly.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// Row by row, from the first column that counts.
    pub values: &'a [f32],
    /// The columns of a row.
    pub columns: usize,
    /// From a row to the next: more than its columns where others stand beside them.
    pub stride: usize,
    /// The mask of element (row, column).
    pub dropout: Option<Dropout>,
    /// Where the columns of each row stand, counted in rows; none where they stand in the order of the rows.
    pub places: Option<&'a [u32]>,
}

impl<'a> Left<'a> {
    /// Rows as they are.
    pub fn new(values: &'a [f32], columns: usize) -> Self {
        Self { values, columns, stride: columns, dropout: None, places: None }
    }

    /// The rows of one of several runs side by side, of so many columns each.
    pub fn beside(values: &'a [f32], columns: usize, strip: Strip) -> Self {
        let values = values.get(strip.run * columns..).unwrap_or(&[]);
        Self { values, columns, stride: strip.of * columns, dropout: None, places: None }
    }

    /// Some columns of a row, from the first one of them.
    #[inline(always)]
    fn part(&self, row: u32, from: usize, columns: usize) -> &'a [f32] {
        let place = self.places.map_or(row, |places| places[row as usize]);
        &self.values[place as usize * self.stride + from..][..columns]
    }

    /// The columns of a row under the mask.
    #[inline(always)]
    fn masked(&self, dropout: Dropout, row: u32, from: usize, out: &mut [f32]) {
        let (key, part) = (dropout.row(row), self.part(row, from, out.len()));
        for (c, (out, x)) in out.iter_mut().zip(part).enumerate() {
            *out = x * dropout.factor(key, (from + c) as u32);
        }
    }
}

/// Rows that are multiplied at a time: they stay in the second cache.
const ROWS: usize = 64;
/// Terms of a sum that are added at a time: the weights of a panel stay in the first cache.
const TERMS: usize = 256;
/// Columns of a panel of the right side, whose rows stand one after the other; the last one may have 8.
const PANEL: usize = 16;

/// `out[r] = then(a[r] * w)` for the rows of a set: `a` has `k` columns, `w` is `k x n`, `n` a multiple of 8.
/// O(rows * k * n); the weights are copied once, in panels.
pub fn product(
    set: &RowSet,
    a: Left<'_>,
    w: &[f32],
    n: usize,
    then: Then<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    product_beside(set, a, w, n, then, Strip::ALONE, out, monitor)
}

/// [`product`] into the columns of one of several runs side by side. [`Then::Gate`] is for a run alone.
#[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes")]
pub fn product_beside(
    set: &RowSet,
    a: Left<'_>,
    w: &[f32],
    n: usize,
    then: Then<'_>,
    strip: Strip,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    debug_assert!(strip.of == 1 || !matches!(then, Then::Gate(_)));
    let panels = panels(&w[..a.columns * n], n);
    for_each_block(set, out, strip.of * n, monitor, |rows, first, chunk| {
        simd::run_wide(ProductRows { rows, first, a, panels: &panels, n, then, strip, out: chunk });
    })
}

/// A matrix of `n` columns panel by panel.
fn panels(w: &[f32], n: usize) -> Cow<'_, [f32]> {
    if n <= PANEL {
        return Cow::Borrowed(w);
    }
    let mut panels = Vec::with_capacity(w.len());
    for at in (0..n).step_by(PANEL) {
        w.chunks_exact(n).for_each(|row| panels.extend_from_slice(&row[at..n.min(at + PANEL)]));
    }
    Cow::Owned(panels)
}

struct ProductRows<'a> {
    rows: &'a [u32],
    first: usize,
    a: Left<'a>,
    panels: &'a [f32],
    n: usize,
    then: Then<'a>,
    strip: Strip,
    out: &'a mut [f32],
}

impl Body for ProductRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, a, panels, n, then, strip, out } = self;
        let (k, stride, before) = (a.columns, strip.of * n, strip.run * n);
        let mut masked = vec![0.0; if a.dropout.is_some() { ROWS * TERMS.min(k) } else { 0 }];
        for rows in rows.chunks(ROWS) {
            // Without a term, too, sums are written.
            for from in (0..k.max(1)).step_by(TERMS) {
                let terms = TERMS.min(k - from);
                if let Some(dropout) = a.dropout {
                    for (i, &row) in rows.iter().enumerate() {
                        a.masked(dropout, row, from, &mut masked[i * terms..][..terms]);
                    }
                }
                let lines = Lines { a, from, terms, masked: &masked };
                let add = from > 0 || matches!(then, Then::Add);
                for at in (0..n).step_by(PANEL) {
                    let width = PANEL.min(n - at);
                    let panel = &panels[at * k + from * width..][..terms * width];
                    let tiles = Tiles { lines, panel: panel.as_chunks().0, at: before + at, stride, first, add };
                    match width {
                        PANEL => tiles.run::<V, 2>(rows, out),
                        _ => tiles.run::<V, 1>(rows, out),
                    }
                }
            }
            for &row in rows {
                let values = &mut out[(row as usize - first) * stride + before..][..n];
                match then {
                    Then::Finish(finish) => finish.row::<V>(row, values),
                    Then::Gate(gate) => gate.row::<V>(row, values),
                    Then::Add => {}
                }
            }
        }
    }
}

/// Some terms of the left side's rows.
#[derive(Clone, Copy)]
struct Lines<'a> {
    a: Left<'a>,
    from: usize,
    terms: usize,
    /// The rows at hand under the mask, if there is one.
    masked: &'a [f32],
}

impl<'a> Lines<'a> {
    /// A row, the `i`-th of those at hand.
    #[inline(always)]
    fn get(&self, i: usize, row: u32) -> &'a [f32] {
        match self.a.dropout {
            None => self.a.part(row, self.from, self.terms),
            Some(_) => &self.masked[i * self.terms..][..self.terms],
        }
    }
}

/// Some columns of a product.
struct Tiles<'a> {
    lines: Lines<'a>,
    /// The right side.
    panel: &'a [Lanes],
    /// The first of the columns, of so many.
    at: usize,
    stride: usize,
    /// The number of the output's first row.
    first: usize,
    /// Whether the sums go on from what the output holds.
    add: bool,
}

impl Tiles<'_> {
    /// `8 * L` columns of some rows.
    #[inline(always)]
    fn run<V: Vectors, const L: usize>(&self, rows: &[u32], out: &mut [f32]) {
        let mut at = 0;
        while at < rows.len() {
            at += match rows.len() - at {
                8.. if V::MANY => self.tile::<V, 8, L>(rows, at, out),
                4.. => self.tile::<V, 4, L>(rows, at, out),
                _ => self.tile::<V, 1, L>(rows, at, out),
            };
        }
    }

    /// `R` of the rows; returns their number. Loops of constant length over registers, without a call: so that they stay
    /// there.
    #[inline(always)]
    fn tile<V: Vectors, const R: usize, const L: usize>(&self, rows: &[u32], from: usize, out: &mut [f32]) -> usize {
        let terms = self.lines.terms;
        let (mut lines, mut places): ([&[f32]; R], [usize; R]) = ([&[]; R], [0; R]);
        let mut acc = [[V::splat(0.0); L]; R];
        for r in 0..R {
            let row = rows[from + r];
            lines[r] = &self.lines.get(from + r, row)[..terms];
            places[r] = (row as usize - self.first) * self.stride + self.at;
            if self.add {
                let held = out[places[r]..][..8 * L].as_chunks().0;
                for l in 0..L {
                    acc[r][l] = V::load(&held[l]);
                }
            }
        }
        for (i, weights) in (0..terms).zip(self.panel.chunks_exact(L)) {
            let mut x = [V::splat(0.0); L];
            for l in 0..L {
                x[l] = V::load(&weights[l]);
            }
            for r in 0..R {
                let factor = V::splat(lines[r][i]);
                for l in 0..L {
                    acc[r][l] = V::fma_eight(factor, x[l], acc[r][l]);
                }
            }
        }
        for r in 0..R {
            let sums = out[places[r]..][..8 * L].as_chunks_mut().0;
            for l in 0..L {
                V::store(acc[r][l], &mut sums[l]);
            }
        }
        R
    }
}

/// `out = sum over the rows of a set of a[r]' g[r]`, a `k x n` matrix: the gradient of the weights of [`product`].
/// `partials` has room for `n_blocks * k * n`. O(rows * k * n).
pub fn transposed_product(
    set: &RowSet,
    a: Left<'_>,
    g: &[f32],
    n: usize,
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    transposed_product_beside(set, a, g, n, Strip::ALONE, partials, out, monitor)
}

/// [`transposed_product`] with the columns of `g` that are those of one of several runs side by side.
#[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes")]
pub fn transposed_product_beside(
    set: &RowSet,
    a: Left<'_>,
    g: &[f32],
    n: usize,
    strip: Strip,
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    sum_blocks(set, a.columns * n, partials, out, monitor, |rows, partial| {
        simd::run_wide(Outer { rows, a, g, n, strip, partial });
    })
}

struct Outer<'a> {
    rows: &'a [u32],
    a: Left<'a>,
    g: &'a [f32],
    n: usize,
    strip: Strip,
    /// Zeros at first.
    partial: &'a mut [f32],
}

impl Body for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, a, g, n, strip, partial } = self;
        let (k, stride, before) = (a.columns, strip.of * n, strip.run * n);
        // Both sides in panels: 8 columns of the left one, whose last panel may end with zeros.
        let mut left: Vec<Lanes> = vec![[0.0; 8]; ROWS * TERMS.min(k).div_ceil(8)];
        let mut right = [[0f32; 8]; ROWS * PANEL / 8];
        let mut line = [0f32; TERMS];
        for rows in rows.chunks(ROWS) {
            for from in (0..k).step_by(TERMS) {
                let terms = TERMS.min(k - from);
                for (i, &row) in rows.iter().enumerate() {
                    let line = match a.dropout {
                        None => a.part(row, from, terms),
                        Some(dropout) => {
                            a.masked(dropout, row, from, &mut line[..terms]);
                            &line[..terms]
                        }
                    };
                    let (eights, rest) = line.as_chunks();
                    for (panel, eight) in eights.iter().enumerate() {
                        left[panel * ROWS + i] = *eight;
                    }
                    if !rest.is_empty() {
                        let mut eight = [0.0; 8];
                        eight[..rest.len()].copy_from_slice(rest);
                        left[eights.len() * ROWS + i] = eight;
                    }
                }
                for at in (0..n).step_by(PANEL) {
                    let eights = PANEL.min(n - at) / 8;
                    for (&row, right) in rows.iter().zip(right.chunks_exact_mut(eights)) {
                        let g = g[row as usize * stride + before + at..][..8 * eights].as_chunks().0;
                        // A copy of a length that is not known would be a call.
                        for (right, g) in right.iter_mut().zip(g) {
                            *right = *g;
                        }
                    }
                    let right = &right[..rows.len() * eights];
                    for (panel, column) in left.chunks_exact(ROWS).zip((from..from + terms).step_by(8)) {
                        let panel = &panel[..rows.len()];
                        let sums = &mut partial[column * n..n * (column + 8).min(k)];
                        match (eights, V::MANY) {
                            (2, true) => outer_tile::<V, 8, 2>(panel, 0, right, n, at, sums),
                            (2, false) => {
                                outer_tile::<V, 4, 2>(panel, 0, right, n, at, sums);
                                outer_tile::<V, 4, 2>(panel, 4, right, n, at, sums);
                            }
                            (_, _) => outer_tile::<V, 8, 1>(panel, 0, right, n, at, sums),
                        }
                    }
                }
            }
        }
    }
}

/// `R` rows of sums, from row `from` of those at hand, by `8 * L` columns, go on. There may be fewer rows.
#[expect(clippy::needless_range_loop, reason = "loops of constant length over registers")]
#[inline(always)]
fn outer_tile<V: Vectors, const R: usize, const L: usize>(
    left: &[Lanes],
    from: usize,
    right: &[Lanes],
    n: usize,
    at: usize,
    sums: &mut [f32],
) {
    let mut acc = [[V::splat(0.0); L]; R];
    for r in 0..R {
        if let Some(held) = sums.get((from + r) * n + at..(from + r) * n + at + 8 * L) {
            let held = held.as_chunks().0;
            for l in 0..L {
                acc[r][l] = V::load(&held[l]);
            }
        }
    }
    for (factors, g) in left.iter().zip(right.chunks_exact(L)) {
        let mut x = [V::splat(0.0); L];
        for l in 0..L {
            x[l] = V::load(&g[l]);
        }
        for r in 0..R {
            let factor = V::splat(factors[from + r]);
            for l in 0..L {
                acc[r][l] = V::fma_eight(factor, x[l], acc[r][l]);
            }
        }
    }
    for r in 0..R {
        if let Some(sums) = sums.get_mut((from + r) * n + at..(from + r) * n + at + 8 * L) {
            let sums = sums.as_chunks_mut().0;
            for l in 0..L {
                V::store(acc[r][l], &mut sums[l]);
            }
        }
    }
}

/// `out[r] = then(a[r] * w^T)` for the rows of a set: `a` has n columns, `w` is `k x n`, k a multiple of 8; `room` holds as
/// much as w. O(rows * k * n).
#[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes, and room for one of them")]
pub fn product_by_transposed(
    set: &RowSet,
    a: Left<'_>,
    w: &[f32],
    k: usize,
    room: &mut [f32],
    then: Then<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    product_by_transposed_beside(set, a, w, k, Strip::ALONE, room, then, out, monitor)
}

/// [`product_by_transposed`] into the columns of one of several runs side by side.
#[expect(clippy::too_many_arguments, reason = "the operands of a product with their sizes, and room for one of them")]
pub fn product_by_transposed_beside(
    set: &RowSet,
    a: Left<'_>,
    w: &[f32],
    k: usize,
    strip: Strip,
    room: &mut [f32],
    then: Then<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let n = a.columns;
    transpose(w, k, n, room);
    product_beside(set, a, &room[..n * k], k, then, strip, out, monitor)
}

/// The transpose of a `k x n` matrix.
pub fn transpose(w: &[f32], k: usize, n: usize, out: &mut [f32]) {
    for i in 0..k {
        for j in 0..n {
            out[j * k + i] = w[i * n + j];
        }
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::simd::{Fused, FusedMany, Plain};
    use super::*;
    use crate::ground::random::{Stream, key};

    /// Every tile and remainder: of rows, of terms (more than one part of them) and of columns.
    #[test]
    fn products_equal_the_literal_sums_with_and_without_a_mask_for_every_instruction_set() {
        let rows = 270;
        let set = RowSet::new(rows, (0..rows as u32).filter(|row| row % 5 != 2).collect());
        let sizes = [(1, 8), (3, 16), (7, 40), (64, 8), (66, 24), (300, 32)];
        for (k, n) in sizes {
            for dropout in [None, Dropout::new(0.4, 77)] {
                let mut stream = Stream::new(key(&[k as u64, n as u64]));
                let mut random = |len: usize| (0..len).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
                let (values, w, g) = (random(rows * k), random(k * n), random(rows * n));
                let a = Left { dropout, ..Left::new(&values, k) };
                let masked = |row: usize, i: usize| {
                    let factor = dropout.map_or(1.0, |dropout| dropout.factor(dropout.row(row as u32), i as u32));
                    f64::from(factor) * f64::from(values[row * k + i])
                };
                let (then, nothing) = (Then::Finish(Finish::NOTHING), vec![f32::NAN; rows * n]);
                let mut out = nothing.clone();
                product(&set, a, &w, n, then, &mut out, &Unmonitored).unwrap();
                // The rows of the set alone, in another order.
                let mut places = vec![u32::MAX; rows];
                (0u32..).zip(set.rows().iter().rev()).for_each(|(place, &row)| places[row as usize] = place);
                let compact = set.rows().iter().rev().flat_map(|&row| values[row as usize * k..][..k].iter().copied());
                let compact: Vec<f32> = compact.collect();
                let placed = Left { values: &compact, places: Some(&places), ..a };
                let mut found = nothing.clone();
                product(&set, placed, &w, n, then, &mut found, &Unmonitored).unwrap();
                let bits = |out: &[f32]| out.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
                assert_eq!(bits(&found), bits(&out));
                let packed = panels(&w, n);
                let strip = Strip::ALONE;
                let of = |out| ProductRows { rows: set.rows(), first: 0, a, panels: &packed, n, then, strip, out };
                let (mut plain, mut fused, mut many) = (nothing.clone(), nothing.clone(), nothing);
                of(&mut plain).run::<Plain>();
                of(&mut fused).run::<Fused>();
                of(&mut many).run::<FusedMany>();
                for row in 0..rows {
                    for c in 0..n {
                        let at = row * n + c;
                        if row % 5 == 2 {
                            assert!(out[at].is_nan() && many[at].is_nan(), "row {row} is not of the set");
                            continue;
                        }
                        let expected: f64 = (0..k).map(|i| masked(row, i) * f64::from(w[i * n + c])).sum();
                        for got in [out[at], plain[at], fused[at]] {
                            assert!((f64::from(got) - expected).abs() < 1e-4, "{k} x {n}: {got} for {expected}");
                        }
                        assert!(fused[at] == many[at], "{k} x {n}: the size of a tile shows");
                    }
                }

                let mut added = g.clone();
                product(&set, a, &w, n, Then::Add, &mut added, &Unmonitored).unwrap();
                for (at, &row) in set.rows().iter().flat_map(|row| (0..n).map(move |c| (*row as usize * n + c, row))) {
                    assert!((added[at] - (out[at] + g[at])).abs() < 1e-4, "row {row}");
                }

                let (mut partials, mut sum) = (vec![0.0; set.n_blocks() * k * n], vec![f32::NAN; k * n]);
                transposed_product(&set, a, &g, n, &mut partials, &mut sum, &Unmonitored).unwrap();
                let mut found = vec![f32::NAN; k * n];
                transposed_product(&set, placed, &g, n, &mut partials, &mut found, &Unmonitored).unwrap();
                assert_eq!(bits(&found), bits(&sum));
                let (mut plain, mut fused, mut many) = (vec![0.0; k * n], vec![0.0; k * n], vec![0.0; k * n]);
                let of = |partial| Outer { rows: set.rows(), a, g: &g, n, strip, partial };
                of(&mut plain).run::<Plain>();
                of(&mut fused).run::<Fused>();
                of(&mut many).run::<FusedMany>();
                assert!(fused == many, "{k} x {n}: the size of a tile shows");
                for i in 0..k {
                    for c in 0..n {
                        let term = |&row: &u32| masked(row as usize, i) * f64::from(g[row as usize * n + c]);
                        let expected: f64 = set.rows().iter().map(term).sum();
                        for got in [sum[i * n + c], fused[i * n + c], plain[i * n + c]] {
                            assert!((f64::from(got) - expected).abs() < 1e-3, "{k} x {n}: {got} for {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_product_without_terms_is_zero() {
        let (set, a) = (RowSet::all(3), Left::new(&[], 0));
        let mut out = vec![f32::NAN; 24];
        product(&set, a, &[], 8, Then::Finish(Finish::NOTHING), &mut out, &Unmonitored).unwrap();
        assert_eq!(out, [0.0; 24]);
    }

    #[test]
    fn a_transpose_swaps_rows_and_columns() {
        let mut out = [0.0; 6];
        transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3, &mut out);
        assert_eq!(out, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn runs_side_by_side_have_the_bits_of_each_alone() {
        let (rows, of, k, n) = (150, 3, 24, 40);
        let set = RowSet::new(rows, (0..rows as u32).filter(|row| row % 4 != 1).collect());
        let mut stream = Stream::new(5);
        let mut random = |len: usize| (0..len).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
        let (x, g, w) = (random(rows * of * k), random(rows * of * n), random(k * n));
        let columns = |values: &[f32], width: usize, run: usize| -> Vec<f32> {
            values.chunks(of * width).flat_map(|row| row[run * width..][..width].to_vec()).collect()
        };
        let then = Then::Finish(Finish::NOTHING);
        let (mut z, mut d_x) = (vec![0.0; rows * of * n], vec![0.0; rows * of * k]);
        let (mut room, mut partials) = (vec![0.0; k * n], vec![0.0; set.n_blocks() * k * n]);
        for run in 0..of {
            let strip = Strip { run, of };
            product_beside(&set, Left::beside(&x, k, strip), &w, n, then, strip, &mut z, &Unmonitored).unwrap();
            let d_z = Left::beside(&g, n, strip);
            product_by_transposed_beside(&set, d_z, &w, k, strip, &mut room, then, &mut d_x, &Unmonitored).unwrap();
        }
        for run in 0..of {
            let (own_x, own_g) = (columns(&x, k, run), columns(&g, n, run));
            let (mut own_z, mut own_d_x) = (vec![0.0; rows * n], vec![0.0; rows * k]);
            product(&set, Left::new(&own_x, k), &w, n, then, &mut own_z, &Unmonitored).unwrap();
            let d_z = Left::new(&own_g, n);
            product_by_transposed(&set, d_z, &w, k, &mut room, then, &mut own_d_x, &Unmonitored).unwrap();
            assert!(columns(&z, n, run) == own_z && columns(&d_x, k, run) == own_d_x);
            let (strip, mut sums) = (Strip { run, of }, [vec![0.0; k * n], vec![0.0; k * n]]);
            let a = Left::beside(&x, k, strip);
            transposed_product_beside(&set, a, &g, n, strip, &mut partials, &mut sums[0], &Unmonitored).unwrap();
            let a = Left::new(&own_x, k);
            transposed_product(&set, a, &own_g, n, &mut partials, &mut sums[1], &Unmonitored).unwrap();
            assert!(sums[0] == sums[1]);
        }
    }
}
