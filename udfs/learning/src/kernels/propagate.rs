//! Sparse matrix times dense matrix, scaled and added to something: one step of a propagation, forward and backward.

use bonnet_graph::{Monitor, Stopped};

use super::combine::dot;
use super::elementwise::Finish;
use super::parallel::{for_each_block, for_each_block_with};
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors, axpy};
use super::sparse::{Ahead, Csr, Gathered, Tile, ask_rows, gather_new, in_tiles, load, store};

/// The term that the scaled sums are added to.
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    /// Nothing.
    Zero,
    /// The values that the output holds.
    Output,
    /// The row of the same number of another matrix, times a factor.
    Rows(&'a [f32], f32),
}

/// `out[r] = finish(base[r] + scale * sum over the entries (r, c) of value * x[c])`.
#[derive(Debug, Clone, Copy)]
pub struct Propagate<'a> {
    /// The sparse matrix.
    pub matrix: Csr<'a>,
    /// The dense matrix.
    pub x: &'a [f32],
    /// Stored columns of all matrices, a multiple of 8.
    pub width: usize,
    /// The factor of the sums.
    pub scale: f32,
    /// The term that they are added to.
    pub base: Base<'a>,
    /// The function from the sums to the output.
    pub finish: Finish<'a>,
}

impl Propagate<'_> {
    /// Computes the rows of a set. O(entries * width).
    pub fn run(self, set: &RowSet, out: &mut [f32], monitor: &dyn Monitor) -> Result<(), Stopped> {
        for_each_block(set, out, self.width, monitor, |rows, first, chunk| {
            simd::run(PropagateRows { propagate: self, rows, first, out: chunk });
        })
    }
}

/// [`Propagate`] of a matrix that lists the rows with entries.
#[derive(Debug, Clone, Copy)]
pub struct PropagateListed<'a> {
    /// Where the entries of each row of the set begin and end.
    pub spans: &'a [(u32, u32)],
    /// The columns of the entries.
    pub columns: &'a [u32],
    /// Their values.
    pub values: &'a [f32],
    /// The dense matrix.
    pub x: &'a [f32],
    /// Stored columns of all matrices, a multiple of 8.
    pub width: usize,
    /// Whether the sums are added to what is there.
    pub add: bool,
}

impl PropagateListed<'_> {
    /// Computes the rows of a set, which has as many as there are spans. O(entries * width).
    pub fn run(self, set: &RowSet, out: &mut [f32], monitor: &dyn Monitor) -> Result<(), Stopped> {
        for_each_block(set, out, self.width, monitor, |rows, first, chunk| {
            let at = set.rows().partition_point(|&row| row < rows[0]);
            simd::run(ListedRows { listed: self, rows, spans: &self.spans[at..][..rows.len()], first, out: chunk });
        })
    }
}

struct ListedRows<'a> {
    listed: PropagateListed<'a>,
    rows: &'a [u32],
    spans: &'a [(u32, u32)],
    first: usize,
    out: &'a mut [f32],
}

impl Body for ListedRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { listed: PropagateListed { columns, values, x, width, add, .. }, rows, spans, first, out } = self;
        let ahead = Ahead { matrix: Csr { offsets: &[], columns, values }, x, stride: width, width };
        let far = ahead.is_far();
        for (at, (&row, &(start, end))) in rows.iter().zip(spans).enumerate() {
            if let (true, Some(&(start, end))) = (far, spans.get(at + 1)) {
                let (start, end) = (start as usize, end as usize);
                ask_rows::<V>(&columns[start..end.min(start + Ahead::MOST)], x, width, width);
            }
            let out = &mut out[(row as usize - first) * width..][..width];
            if !add {
                out.fill(0.0);
            }
            let entries = start as usize..end as usize;
            let (columns, values) = (&columns[entries.clone()], &values[entries]);
            in_tiles::<V>(&Scaled(Gathered { columns, values, x, stride: width, add: true }, 1.0), out);
        }
    }
}

struct PropagateRows<'a> {
    propagate: Propagate<'a>,
    rows: &'a [u32],
    first: usize,
    out: &'a mut [f32],
}

impl Body for PropagateRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { propagate, rows, first, out } = self;
        let Propagate { matrix, x, width, scale, base, finish } = propagate;
        let ahead = Ahead { matrix, x, stride: width, width };
        let far = ahead.is_far();
        for (i, &row) in rows.iter().enumerate() {
            if far {
                ahead.ask::<V>(rows.get(i + 1));
            }
            let out = &mut out[(row as usize - first) * width..][..width];
            match base {
                Base::Zero | Base::Output => {}
                Base::Rows(other, factor) => {
                    let other = &other[row as usize * width..][..width];
                    out.iter_mut().zip(other).for_each(|(out, other)| *out = factor * other);
                }
            }
            let entries = matrix.offsets[row as usize]..matrix.offsets[row as usize + 1];
            let (columns, values) = (&matrix.columns[entries.clone()], &matrix.values[entries]);
            let add = !matches!(base, Base::Zero);
            in_tiles::<V>(&Scaled(Gathered { columns, values, x, stride: width, add }, scale), out);
            finish.row::<V>(row, out);
        }
    }
}

/// A step along the powers of a matrix: `next[r] = sum over the entries (r, c) of value * power[c]`, which counts with a
/// coefficient in a sum of all powers.
#[derive(Debug, Clone, Copy)]
pub struct Power<'a> {
    /// The sparse matrix.
    pub matrix: Csr<'a>,
    /// The power before.
    pub power: &'a [f32],
    /// Stored columns of all matrices, a multiple of 8.
    pub width: usize,
    /// The factor of the next one in the sum.
    pub coefficient: f32,
}

impl Power<'_> {
    /// Computes the rows of a set, and adds them to the sum; returns the scalar product of the next power with a matrix, if
    /// there is one, over these rows. O(entries * width).
    pub fn run(
        self,
        set: &RowSet,
        with: Option<&[f32]>,
        next: &mut [f32],
        sum: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<f32, Stopped> {
        let mut extras: Vec<(&mut [f32], f64)> =
            sum.chunks_mut((set.span() * self.width).max(1)).map(|chunk| (chunk, 0.0)).collect();
        for_each_block_with(set, next, self.width, &mut extras, monitor, |rows, first, next, (sum, product)| {
            *product = simd::run(PowerRows { power: self, rows, first, with, next, sum });
        })?;
        Ok(extras.iter().map(|(_, product)| product).sum::<f64>() as f32)
    }
}

struct PowerRows<'a> {
    power: Power<'a>,
    rows: &'a [u32],
    first: usize,
    with: Option<&'a [f32]>,
    next: &'a mut [f32],
    sum: &'a mut [f32],
}

impl Body for PowerRows<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vectors>(self) -> f64 {
        let Self { power: Power { matrix, power, width, coefficient }, rows, first, with, next, sum } = self;
        let mut product = 0f64;
        let ahead = Ahead { matrix, x: power, stride: width, width };
        let far = ahead.is_far();
        for (i, &row) in rows.iter().enumerate() {
            if far {
                ahead.ask::<V>(rows.get(i + 1));
            }
            let here = (row as usize - first) * width..(row as usize - first + 1) * width;
            let (next, sum) = (&mut next[here.clone()], &mut sum[here]);
            let entries = matrix.offsets[row as usize]..matrix.offsets[row as usize + 1];
            gather_new::<V>(&matrix.columns[entries.clone()], &matrix.values[entries], power, width, next);
            sum.iter_mut().zip(&*next).for_each(|(sum, x)| *sum = V::fma(coefficient, *x, *sum));
            if let Some(with) = with {
                product += f64::from(dot::<V>(next, &with[row as usize * width..][..width]));
            }
        }
        product
    }
}

/// `scale * sum of value * x[column]`, as a tile.
struct Scaled<'a>(Gathered<'a>, f32);

impl Tile for Scaled<'_> {
    #[inline(always)]
    fn compute<V: Vectors, const L: usize>(&self, at: usize, out: &mut [f32]) {
        let Self(gathered, scale) = self;
        let mut acc: [Lanes; L] = [[0.0; 8]; L];
        gathered.add_to::<V, L>(at, &mut acc);
        let mut sum: [Lanes; L] = if gathered.add { load(out) } else { [[0.0; 8]; L] };
        for l in 0..L {
            axpy::<V>(*scale, &acc[l], &mut sum[l]);
        }
        store(&sum, out);
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::simd::{Fused, Plain};
    use super::*;
    use crate::ground::random::{Stream, key};

    #[test]
    fn every_tile_and_base_equals_the_literal_sum_with_and_without_vectors() {
        let n = 200;
        let mut stream = Stream::new(key(&[21]));
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for _ in 0..n {
            columns.extend((0..n as u32).filter(|_| stream.uniform() < 0.04));
            offsets.push(columns.len());
        }
        let values: Vec<f32> = columns.iter().map(|_| stream.normal() as f32).collect();
        let matrix = Csr { offsets: &offsets, columns: &columns, values: &values };
        let set = RowSet::new(n, (0..n as u32).filter(|row| row % 4 != 1).collect());
        for width in [8, 24, 32, 64, 80] {
            let mut random = || (0..n * width).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
            let (x, other, start) = (random(), random(), random());
            for (base, factor) in [(Base::Zero, 0.0), (Base::Output, 1.0), (Base::Rows(&other, -0.7), -0.7)] {
                let propagate = Propagate { matrix, x: &x, width, scale: 0.3, base, finish: Finish::NOTHING };
                let mut out = start.clone();
                propagate.run(&set, &mut out, &Unmonitored).unwrap();
                let (mut fused, mut plain) = (start.clone(), start.clone());
                PropagateRows { propagate, rows: set.rows(), first: 0, out: &mut fused }.run::<Fused>();
                PropagateRows { propagate, rows: set.rows(), first: 0, out: &mut plain }.run::<Plain>();
                for row in 0..n {
                    for c in 0..width {
                        let at = row * width + c;
                        if row % 4 == 1 {
                            assert_eq!(out[at], start[at], "row {row} is not of the set");
                            continue;
                        }
                        let added = match base {
                            Base::Zero => 0.0,
                            Base::Output => f64::from(start[at]),
                            Base::Rows(..) => f64::from(other[at]),
                        };
                        let sum: f64 = (offsets[row]..offsets[row + 1])
                            .map(|e| f64::from(values[e]) * f64::from(x[columns[e] as usize * width + c]))
                            .sum();
                        let expected = f64::from(factor as f32) * added + 0.3 * sum;
                        for got in [out[at], fused[at], plain[at]] {
                            assert!((f64::from(got) - expected).abs() < 1e-5, "width {width}: {got} for {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_step_along_the_powers_adds_to_their_sum_and_multiplies_with_a_matrix() {
        let (n, width) = (300, 24);
        let mut stream = Stream::new(key(&[22]));
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for _ in 0..n {
            columns.extend((0..n as u32).filter(|_| stream.uniform() < 0.03));
            offsets.push(columns.len());
        }
        let values: Vec<f32> = columns.iter().map(|_| stream.normal() as f32).collect();
        let mut random = || (0..n * width).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
        let (power, with, start) = (random(), random(), random());
        let matrix = Csr { offsets: &offsets, columns: &columns, values: &values };
        let set = RowSet::new(n, (0..n as u32).filter(|row| row % 4 != 1).collect());
        let step = Power { matrix, power: &power, width, coefficient: -0.4 };
        for with in [None, Some(&with[..])] {
            let (mut next, mut sum) = (vec![f32::NAN; n * width], start.clone());
            let got = step.run(&set, with, &mut next, &mut sum, &Unmonitored).unwrap();
            let mut expected = 0.0;
            for row in 0..n {
                for c in 0..width {
                    let at = row * width + c;
                    if row % 4 == 1 {
                        assert!(next[at].is_nan() && sum[at] == start[at], "row {row} is not of the set");
                        continue;
                    }
                    let exact: f64 = (offsets[row]..offsets[row + 1])
                        .map(|e| f64::from(values[e]) * f64::from(power[columns[e] as usize * width + c]))
                        .sum();
                    assert!((f64::from(next[at]) - exact).abs() < 1e-5);
                    assert!((f64::from(sum[at]) - (f64::from(start[at]) - 0.4 * exact)).abs() < 1e-5);
                    expected += with.map_or(0.0, |with| exact * f64::from(with[at]));
                }
            }
            assert!((f64::from(got) - expected).abs() < 1e-3 * expected.abs().max(1.0), "{got} for {expected}");
        }
    }
}
