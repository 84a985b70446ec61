//! Sparse matrix times dense matrix, rows gathered: messages between nodes, and sparse features times weights.

use bonnet_graph::{Monitor, Stopped};

use super::elementwise::Finish;
use super::parallel::for_each_block;
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors, axpy};
use super::strip::Strip;
use crate::ground::random::Dropout;

/// A sparse matrix in compressed rows, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Csr<'a> {
    /// Where each row starts; one more at the end.
    pub offsets: &'a [usize],
    /// The column of each entry.
    pub columns: &'a [u32],
    /// The value of each entry.
    pub values: &'a [f32],
}

/// A dropout mask on the entries of a sparse matrix.
#[derive(Debug, Clone, Copy)]
pub enum Mask<'a> {
    /// Every entry counts.
    None,
    /// The mask of element (row, column).
    Rows(Dropout),
    /// The mask of element (column, row): the transposed matrix under the mask of the original.
    Columns(Dropout),
    /// As [`Mask::Rows`], the masks of runs side by side: each counts for an equal part of the dense matrix's columns. Equal
    /// masks are drawn once where they stand next to each other.
    RowsOfEach(&'a [Option<Dropout>]),
    /// As [`Mask::Columns`], the masks of runs side by side.
    ColumnsOfEach(&'a [Option<Dropout>]),
}

/// A term that is added to the sums along the entries of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// Nothing.
    Nothing,
    /// The values that the output holds.
    Output,
    /// As many columns of the dense matrix, from this one on, in the row of the same number.
    Columns(usize),
}

/// `out[r] = finish(sum over the entries (r, c) of mask * value * x[c] + own[r])`.
#[derive(Debug, Clone, Copy)]
pub struct Product<'a> {
    /// The sparse matrix.
    pub matrix: Csr<'a>,
    /// Which of its entries count.
    pub mask: Mask<'a>,
    /// The dense matrix.
    pub x: &'a [f32],
    /// The stored columns of the dense matrix.
    pub stride: usize,
    /// The number of columns that are multiplied, from the first; a multiple of 8.
    pub width: usize,
    /// The term that is added to the sums of a row.
    pub own: Own,
    /// The function from the sums to the output.
    pub finish: Finish<'a>,
}

impl Product<'_> {
    /// Computes the rows of a set; `out` has `width` columns. O(entries * width) multiplications.
    pub fn run(self, set: &RowSet, out: &mut [f32], monitor: &dyn Monitor) -> Result<(), Stopped> {
        self.run_beside(set, Strip::ALONE, out, monitor)
    }

    /// As [`Product::run`], into the columns of one of several runs side by side.
    pub fn run_beside(self, set: &RowSet, strip: Strip, out: &mut [f32], monitor: &dyn Monitor) -> Result<(), Stopped> {
        let (out_stride, before) = (strip.of * self.width, strip.run * self.width);
        for_each_block(set, out, out_stride, monitor, |rows, first, chunk| {
            simd::run(ProductRows { product: self, rows, first, out: &mut chunk[before..], out_stride });
        })
    }

    /// As [`Product::run_beside`], with the sums in the first `width` of `2 * width` output columns and a copy of the row of
    /// `x` in the others: zeros for rows that are not in `copied`. Both are added with [`Own::Output`].
    pub fn run_beside_copy(
        self,
        set: &RowSet,
        copied: &RowSet,
        strip: Strip,
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let (width, span) = (self.width, set.span());
        let out_stride = strip.of * 2 * width;
        for_each_block(set, out, out_stride, monitor, |rows, first, chunk| {
            let chunk = &mut chunk[strip.run * 2 * width..];
            simd::run(ProductRows { product: self, rows, first, out: chunk, out_stride });
            let mut copied = copied.block(first / span);
            for &row in rows {
                let target = &mut chunk[(row as usize - first) * out_stride + width..][..width];
                while copied.first().is_some_and(|&c| c < row) {
                    copied = &copied[1..];
                }
                if !matches!(self.own, Own::Output) {
                    target.fill(0.0);
                }
                if copied.first() == Some(&row) {
                    let own = &self.x[row as usize * self.stride..][..width];
                    target.iter_mut().zip(own).for_each(|(target, x)| *target += x);
                }
            }
        })
    }
}

struct ProductRows<'a> {
    product: Product<'a>,
    rows: &'a [u32],
    first: usize,
    out: &'a mut [f32],
    out_stride: usize,
}

/// Entries that are masked at a time.
const CHUNK: usize = 128;

impl Body for ProductRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { product, rows, first, out, out_stride } = self;
        let Product { matrix, mask, x, stride, width, own, finish } = product;
        // One mask is that of one run.
        let alone = match mask {
            Mask::Rows(dropout) | Mask::Columns(dropout) => [Some(dropout)],
            _ => [None],
        };
        let masks = match mask {
            Mask::RowsOfEach(masks) | Mask::ColumnsOfEach(masks) => masks,
            _ => &alone[..],
        };
        let by_row = matches!(mask, Mask::Rows(_) | Mask::RowsOfEach(_));
        let part = width / masks.len().max(1);
        let mut kept = ([0u32; CHUNK], [0f32; CHUNK]);
        let ahead = Ahead { matrix, x, stride, width };
        let far = ahead.is_far() && matches!(mask, Mask::None);
        for (i, &row) in rows.iter().enumerate() {
            if far {
                ahead.ask::<V>(rows.get(i + 1));
            }
            let out = &mut out[(row as usize - first) * out_stride..][..width];
            match own {
                Own::Nothing | Own::Output => {}
                Own::Columns(at) => out.copy_from_slice(&x[row as usize * stride + at..][..width]),
            }
            let entries = matrix.offsets[row as usize]..matrix.offsets[row as usize + 1];
            let (all_columns, all_values) = (&matrix.columns[entries.clone()], &matrix.values[entries]);
            let (add, mut at) = (!matches!(own, Own::Nothing), 0);
            for same in masks.chunk_by(PartialEq::eq) {
                let (x, out) = (x.get(at..).unwrap_or(&[]), &mut out[at..][..same.len() * part]);
                at += out.len();
                match same[0] {
                    None if add => gather::<V>(all_columns, all_values, x, stride, out),
                    None => gather_new::<V>(all_columns, all_values, x, stride, out),
                    Some(dropout) => {
                        if !add {
                            out.fill(0.0);
                        }
                        let masked = Masked { dropout, by_row, columns: all_columns, values: all_values };
                        masked.gather::<V>(row, x, stride, &mut kept, out);
                    }
                }
            }
            finish.row::<V>(row, out);
        }
    }
}

/// The entries of a row under a mask.
struct Masked<'a> {
    dropout: Dropout,
    by_row: bool,
    columns: &'a [u32],
    values: &'a [f32],
}

impl Masked<'_> {
    /// Adds `sum of value * x[column]` over the entries that are kept to a row; there is room for a chunk of them.
    #[inline(always)]
    fn gather<V: Vectors>(
        &self,
        row: u32,
        x: &[f32],
        stride: usize,
        (columns, values): &mut ([u32; CHUNK], [f32; CHUNK]),
        out: &mut [f32],
    ) {
        let dropout = self.dropout;
        let row_key = dropout.row(row);
        for (chunk, chunk_values) in self.columns.chunks(CHUNK).zip(self.values.chunks(CHUNK)) {
            let mut keeps = [0u32; CHUNK];
            if self.by_row {
                for (keep, &column) in keeps.iter_mut().zip(chunk) {
                    *keep = u32::from(dropout.keeps(row_key, column));
                }
            } else {
                for (keep, &column) in keeps.iter_mut().zip(chunk) {
                    *keep = u32::from(dropout.keeps(dropout.row(column), row));
                }
            }
            // Kept entries are moved together without a branch.
            let mut kept = 0usize;
            for ((&column, &value), &keep) in chunk.iter().zip(chunk_values).zip(&keeps) {
                columns[kept % CHUNK] = column;
                values[kept % CHUNK] = value * dropout.scale;
                kept += keep as usize;
            }
            gather::<V>(&columns[..kept], &values[..kept], x, stride, out);
        }
    }
}

/// Prefetches the rows of a dense matrix that a row of a sparse one gathers, while the row before is computed: without it each
/// row begins with a cache miss, since the end of the loop over the row before is mispredicted.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a> {
    pub(crate) matrix: Csr<'a>,
    pub(crate) x: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) width: usize,
}

impl Ahead<'_> {
    /// A matrix that fits into a large cache needs no prefetch: at 2 MB it cost an eighth, at 27 MB it gains a quarter.
    const NEAR_BYTES: usize = 8 << 20;
    /// Hardware prefetches long rows; prefetched lines must stay in the cache until they are read.
    pub(crate) const MOST: usize = 64;

    /// Whether prefetching pays.
    #[inline(always)]
    pub(crate) fn is_far(self) -> bool {
        size_of_val(self.x) > Self::NEAR_BYTES
    }

    /// Prefetches what `row` gathers, if there is such a row.
    #[inline(always)]
    pub(crate) fn ask<V: Vectors>(self, row: Option<&u32>) {
        let Some(&row) = row else { return };
        let start = self.matrix.offsets[row as usize];
        let end = self.matrix.offsets[row as usize + 1].min(start + Self::MOST);
        ask_rows::<V>(&self.matrix.columns[start..end], self.x, self.stride, self.width);
    }
}

/// Prefetches some rows of a dense matrix.
#[inline(always)]
pub(crate) fn ask_rows<V: Vectors>(rows: &[u32], x: &[f32], stride: usize, width: usize) {
    for &row in rows {
        let gathered = &x[row as usize * stride..][..width];
        gathered.iter().step_by(16).for_each(V::ask);
        gathered.last().into_iter().for_each(V::ask);
    }
}

/// Adds `sum of value * x[column]` to a row.
#[inline(always)]
pub(crate) fn gather<V: Vectors>(columns: &[u32], values: &[f32], x: &[f32], stride: usize, out: &mut [f32]) {
    in_tiles::<V>(&Gathered { columns, values, x, stride, add: true }, out);
}

/// Replaces a row by `sum of value * x[column]`, without a pass that writes zeros before.
#[inline(always)]
pub(crate) fn gather_new<V: Vectors>(columns: &[u32], values: &[f32], x: &[f32], stride: usize, out: &mut [f32]) {
    in_tiles::<V>(&Gathered { columns, values, x, stride, add: false }, out);
}

/// Part of a row's computation: the `8 * L` columns from the column `at` on, which stay in registers.
pub(crate) trait Tile {
    fn compute<V: Vectors, const L: usize>(&self, at: usize, out: &mut [f32]);
}

/// Computes a row tile by tile; its width is a multiple of 8.
#[inline(always)]
pub(crate) fn in_tiles<V: Vectors>(tile: &impl Tile, row: &mut [f32]) {
    let width = row.len();
    let mut at = 0;
    while at < width {
        let columns = match width - at {
            64.. => 64,
            32.. => 32,
            16.. => 16,
            _ => 8,
        };
        let out = &mut row[at..at + columns];
        match columns {
            64 => tile.compute::<V, 8>(at, out),
            32 => tile.compute::<V, 4>(at, out),
            16 => tile.compute::<V, 2>(at, out),
            _ => tile.compute::<V, 1>(at, out),
        }
        at += columns;
    }
}

/// The sum over some entries of `value * x[column]`, as a tile.
pub(crate) struct Gathered<'a> {
    pub(crate) columns: &'a [u32],
    pub(crate) values: &'a [f32],
    pub(crate) x: &'a [f32],
    pub(crate) stride: usize,
    /// Whether it is added to the output; else it replaces it.
    pub(crate) add: bool,
}

impl Gathered<'_> {
    /// Adds the columns from `at` on.
    #[inline(always)]
    pub(crate) fn add_to<V: Vectors, const L: usize>(&self, at: usize, acc: &mut [Lanes; L]) {
        for (&column, &value) in self.columns.iter().zip(self.values) {
            let row = &self.x[column as usize * self.stride + at..][..8 * L];
            for l in 0..L {
                axpy::<V>(value, &row[8 * l..8 * l + 8], &mut acc[l]);
            }
        }
    }
}

impl Tile for Gathered<'_> {
    #[inline(always)]
    fn compute<V: Vectors, const L: usize>(&self, at: usize, out: &mut [f32]) {
        let mut acc: [Lanes; L] = if self.add { load(out) } else { [[0.0; 8]; L] };
        self.add_to::<V, L>(at, &mut acc);
        store(&acc, out);
    }
}

/// The lanes of a slice of `8 * L` values.
#[inline(always)]
pub(crate) fn load<const L: usize>(values: &[f32]) -> [Lanes; L] {
    let mut lanes = [[0.0; 8]; L];
    for (lane, values) in lanes.iter_mut().zip(values.chunks_exact(8)) {
        lane.copy_from_slice(values);
    }
    lanes
}

/// Writes lanes to a slice of `8 * L` values.
#[inline(always)]
pub(crate) fn store<const L: usize>(lanes: &[Lanes; L], values: &mut [f32]) {
    for (lane, values) in lanes.iter().zip(values.chunks_exact_mut(8)) {
        values.copy_from_slice(lane);
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::simd::{Fused, Plain};
    use super::*;
    use crate::data::SparseRows;
    use crate::ground::random::{Stream, key};

    /// 300 x 200, up to 180 entries a row: more than are masked at a time.
    fn matrix() -> SparseRows {
        let mut stream = Stream::new(key(&[11]));
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for row in 0..300 {
            let share = if row % 10 == 0 { 0.9 } else { 0.05 };
            columns.extend((0..200u32).filter(|_| stream.uniform() < share));
            offsets.push(columns.len());
        }
        let values = columns.iter().map(|_| stream.normal() as f32).collect();
        SparseRows::new(200, offsets, columns, values).unwrap()
    }

    #[test]
    fn asking_ahead_stays_within_the_matrix() {
        let matrix = matrix();
        for (stride, width) in [(8, 8), (40, 40), (72, 64)] {
            let x = vec![1.0; 200 * stride];
            let ahead = Ahead { matrix: matrix.csr(), x: &x, stride, width };
            assert!(!ahead.is_far());
            (0..300).for_each(|row| ahead.ask::<Fused>(Some(&row)));
            ahead.ask::<Fused>(None);
        }
    }

    #[test]
    fn products_of_every_tile_equal_the_literal_sum_with_and_without_mask_and_vectors() {
        let matrix = matrix();
        let set = RowSet::new(300, (0..300).filter(|row| row % 3 != 1).collect());
        let dropout = Dropout::new(0.4, 99).unwrap();
        for width in [8, 16, 24, 32, 64, 120] {
            let stride = width + 8;
            let mut stream = Stream::new(width as u64);
            let x: Vec<f32> = (0..300 * stride).map(|_| stream.normal() as f32).collect();
            for mask in [Mask::None, Mask::Rows(dropout), Mask::Columns(dropout)] {
                let own = if matches!(mask, Mask::None) { Own::Columns(8) } else { Own::Nothing };
                let finish = Finish::NOTHING;
                let product = Product { matrix: matrix.csr(), mask, x: &x, stride, width, own, finish };
                let mut out = vec![f32::NAN; 300 * width];
                product.run(&set, &mut out, &Unmonitored).unwrap();
                if let Own::Columns(at) = own {
                    // What is held counts as what is read.
                    let mut held: Vec<f32> =
                        x.chunks(stride).flat_map(|row| row[at..at + width].iter().copied()).collect();
                    Product { own: Own::Output, ..product }.run(&set, &mut held, &Unmonitored).unwrap();
                    let same = |row: &u32| {
                        let at = *row as usize * width;
                        held[at..at + width] == out[at..at + width]
                    };
                    assert!(set.rows().iter().all(same));
                }
                let variant = |fused: bool| {
                    let mut out = vec![f32::NAN; 300 * width];
                    let body = ProductRows { product, rows: set.rows(), first: 0, out: &mut out, out_stride: width };
                    if fused {
                        body.run::<Fused>()
                    } else {
                        body.run::<Plain>()
                    }
                    out
                };
                let (fused, plain) = (variant(true), variant(false));
                for row in 0..300usize {
                    let (columns, values) = matrix.row(row);
                    for c in 0..width {
                        let got = out[row * width + c];
                        if row % 3 == 1 {
                            assert!(got.is_nan(), "row {row} is not of the set");
                            continue;
                        }
                        let mut expected = match own {
                            Own::Columns(at) => f64::from(x[row * stride + at + c]),
                            _ => 0.0,
                        };
                        for (&column, &value) in columns.iter().zip(values) {
                            let keep = |r: u32, c: u32| f64::from(dropout.factor(dropout.row(r), c));
                            let factor = match mask {
                                Mask::None => 1.0,
                                Mask::Rows(_) => keep(row as u32, column),
                                _ => keep(column, row as u32),
                            };
                            expected += factor * f64::from(value) * f64::from(x[column as usize * stride + c]);
                        }
                        for got in [got, fused[row * width + c], plain[row * width + c]] {
                            assert!((f64::from(got) - expected).abs() < 1e-4, "width {width}: {got} for {expected}");
                        }
                    }
                }
            }
        }
    }
}
