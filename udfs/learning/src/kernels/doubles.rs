//! Dense products of a few rows in `f64`, for functions of rows that compare each with many others.
//!
//! Sums are in one order for every instruction set, and multiplied apart from being added: the same bits everywhere.

use super::simd::{Body, Vectors, run_wide};

/// Rows whose sums are computed together.
const ROWS: usize = 4;

/// Columns that stay in registers.
const COLUMNS: usize = 8;

/// `out[i][j] = <x_i, y_j>` for rows of `width` numbers, each summed as by [`crate::spaces::inner`].
pub(crate) fn products(x: &[f64], y: &[f64], width: usize, out: &mut [f64]) {
    run_wide(Products { x, y, width, out });
}

/// `x_i += sum over j of factors[i][j] y_j` for rows of `width` numbers, the first terms first.
pub(crate) fn add_combinations(factors: &[f64], y: &[f64], width: usize, x: &mut [f64]) {
    let (rows, terms) = (x.len() / width.max(1), y.len() / width.max(1));
    run_wide(Combinations { factors, by_row: terms, by_term: 1, rows, terms, y, width, x });
}

/// `y_j += sum over i of factors[i][j] x_i` for rows of `width` numbers, the first terms first.
pub(crate) fn add_transposed_combinations(factors: &[f64], x: &[f64], width: usize, y: &mut [f64]) {
    let (rows, terms) = (y.len() / width.max(1), x.len() / width.max(1));
    run_wide(Combinations { factors, by_row: 1, by_term: rows, rows, terms, y: x, width, x: y });
}

struct Products<'a> {
    x: &'a [f64],
    y: &'a [f64],
    width: usize,
    out: &'a mut [f64],
}

impl Body for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { x, y, width, out } = self;
        let count = y.len() / width.max(1);
        for (x, out) in x.chunks(ROWS * width).zip(out.chunks_mut(ROWS * count)) {
            if x.len() == ROWS * width {
                products_with::<ROWS>(x, y, width, out);
            } else {
                let rows = x.chunks_exact(width).zip(out.chunks_exact_mut(count));
                rows.for_each(|(x, out)| products_with::<1>(x, y, width, out));
            }
        }
    }
}

/// The products of `R` rows with all others.
#[inline(always)]
fn products_with<const R: usize>(x: &[f64], y: &[f64], width: usize, out: &mut [f64]) {
    let count = out.len() / R;
    for (j, y) in y.chunks_exact(width).enumerate() {
        let mut sums = [[0.0; 4]; R];
        let (quads, rest) = y.as_chunks::<4>();
        for (at, y) in quads.iter().enumerate() {
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = &x[r * width + 4 * at..][..4];
                (0..4).for_each(|lane| sums[lane] += x[lane] * y[lane]);
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let tail = &x[(r + 1) * width - rest.len()..(r + 1) * width];
            let rest: f64 = tail.iter().zip(rest).map(|(x, y)| x * y).sum();
            out[r * count + j] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
        }
    }
}

struct Combinations<'a> {
    factors: &'a [f64],
    /// The factor of row i and term j stands at `i * by_row + j * by_term`.
    by_row: usize,
    by_term: usize,
    rows: usize,
    terms: usize,
    y: &'a [f64],
    width: usize,
    x: &'a mut [f64],
}

impl Body for Combinations<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(mut self) {
        let mut row = 0;
        while row < self.rows {
            if row + ROWS <= self.rows {
                self.add::<ROWS>(row);
                row += ROWS;
            } else {
                self.add::<1>(row);
                row += 1;
            }
        }
    }
}

impl Combinations<'_> {
    /// The rows from `row` on, a block of columns after the other.
    #[inline(always)]
    fn add<const R: usize>(&mut self, row: usize) {
        let mut at = 0;
        while at < self.width {
            if at + COLUMNS <= self.width {
                self.add_block::<R, COLUMNS>(row, at);
                at += COLUMNS;
            } else {
                self.add_block::<R, 1>(row, at);
                at += 1;
            }
        }
    }

    #[inline(always)]
    fn add_block<const R: usize, const C: usize>(&mut self, row: usize, at: usize) {
        let Self { factors, by_row, by_term, terms, y, width, .. } = *self;
        let mut sums = [[0.0; C]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&self.x[(row + r) * width + at..][..C]);
        }
        for term in 0..terms {
            let y = &y[term * width + at..][..C];
            for (r, sums) in sums.iter_mut().enumerate() {
                let factor = factors[(row + r) * by_row + term * by_term];
                (0..C).for_each(|column| sums[column] += factor * y[column]);
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            self.x[(row + r) * width + at..][..C].copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spaces::inner;
    use crate::tests::equations::row_kernels::normal;

    #[test]
    fn products_and_combinations_are_the_loops_bit_by_bit() {
        for (rows, others, width) in [(0, 3, 5), (1, 1, 1), (3, 2, 3), (4, 7, 8), (9, 5, 21), (64, 100, 16)] {
            let (x, y) = (normal(rows * width, 1.0, 1), normal(others * width, 1.0, 2));
            let mut out = vec![0.0; rows * others];
            products(&x, &y, width, &mut out);
            for (x, out) in x.chunks_exact(width).zip(out.chunks_exact(others)) {
                for (y, out) in y.chunks_exact(width).zip(out) {
                    assert_eq!(inner(x, y), *out);
                }
            }

            let (mut sums, mut transposed) = (x.clone(), y.clone());
            add_combinations(&out, &y, width, &mut sums);
            add_transposed_combinations(&out, &x, width, &mut transposed);
            let (mut expected, mut of_others) = (x.clone(), y.clone());
            for i in 0..rows {
                for j in 0..others {
                    for c in 0..width {
                        expected[i * width + c] += out[i * others + j] * y[j * width + c];
                        of_others[j * width + c] += out[i * others + j] * x[i * width + c];
                    }
                }
            }
            assert_eq!((expected, of_others), (sums, transposed));
        }
    }
}
