//! The eigenvalues of a symmetric matrix by how many lie below a number.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

/// The smallest matrix whose rows are shared among threads.
const PARALLEL: usize = 192;

/// The rows of a block that one thread takes at a time.
const ROWS: usize = 16;

/// A symmetric tridiagonal matrix.
#[derive(Debug)]
pub(super) struct Tridiagonal {
    diagonal: Vec<f64>,
    /// The squares of the entries beside it.
    squares: Vec<f64>,
}

impl Tridiagonal {
    /// Brings a full symmetric matrix of `n` x `n`, row by row, to tridiagonal form with the same eigenvalues, by
    /// Householder's reflections (Golub and Van Loan, Matrix Computations, Sec. 8.3.1). The matrix is overwritten. Each
    /// entry is the same whatever the number of threads. 2 n^3 operations.
    pub fn reduce(matrix: &mut [f64], n: usize, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        let (mut diagonal, mut squares) = (Vec::with_capacity(n), Vec::with_capacity(n));
        // The rank-two change S - v w' - w v' that the rows from `first` on still wait for, so that a row is read once a
        // step: changed, and multiplied with the next reflection's vector.
        let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
        for first in 0..n {
            monitor.check()?;
            let (row, below) = matrix[first * n..].split_at_mut(n);
            change(&mut row[first..], v[first], w[first], &v[first..], &w[first..]);
            diagonal.push(row[first]);
            let rest = first + 1;
            if rest == n {
                break;
            }
            let x = &mut row[rest..];
            let norm = dot(x, x).sqrt();
            squares.push(norm * norm);
            let end = if x[0] > 0.0 { -norm } else { norm };
            x[0] -= end;
            let length = dot(x, x);
            let scale = if length > 0.0 { 2.0 / length } else { 0.0 };
            let x = &row[rest..];

            let mut product = vec![0.0; n - rest];
            let step = |(i, (row, product)): (usize, (&mut [f64], &mut f64))| {
                let row = &mut row[rest..];
                change(row, v[rest + i], w[rest + i], &v[rest..], &w[rest..]);
                *product = scale * dot(row, x);
            };
            if n - rest >= PARALLEL {
                below.par_chunks_mut(n).zip(&mut product).with_min_len(ROWS).enumerate().for_each(step);
            } else {
                below.chunks_mut(n).zip(&mut product).enumerate().for_each(step);
            }
            let half = 0.5 * scale * dot(&product, x);
            v[rest..].copy_from_slice(x);
            w[rest..].iter_mut().zip(&product).zip(x).for_each(|((w, p), x)| *w = p - half * x);
        }
        Ok(Self { diagonal, squares })
    }

    /// The number of eigenvalues below `x`: the negative pivots of the elimination of the matrix minus x (Sylvester; Givens
    /// 1954). O(n).
    pub fn below(&self, x: f64) -> u64 {
        let mut count = 0;
        let mut pivot = 1.0;
        for (i, diagonal) in self.diagonal.iter().enumerate() {
            let before = if i == 0 { 0.0 } else { self.squares[i - 1] };
            pivot = diagonal - x - before / pivot;
            if pivot.abs() < f64::MIN_POSITIVE.sqrt() {
                pivot = -f64::MIN_POSITIVE.sqrt();
            }
            count += u64::from(pivot < 0.0);
        }
        count
    }
}

/// row - v_i w - w_i v.
fn change(row: &mut [f64], v_i: f64, w_i: f64, v: &[f64], w: &[f64]) {
    row.iter_mut().zip(v).zip(w).for_each(|((entry, v), w)| *entry -= v_i * w + w_i * v);
}

/// A sum of products in a fixed order that a vector unit can follow.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (blocks_a, rest_a) = a.as_chunks::<8>();
    let (blocks_b, rest_b) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in blocks_a.iter().zip(blocks_b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    /// The matrix of the path on n nodes, whose eigenvalues are 2 cos(pi k / (n + 1)), turned by a reflection.
    fn turned_path(n: usize) -> Vec<f64> {
        let u: Vec<f64> = (0..n).map(|i| ((i * i + 1) as f64).sin()).collect();
        let length: f64 = u.iter().map(|x| x * x).sum();
        let path = |i: usize, j: usize| f64::from(u8::from(i.abs_diff(j) == 1));
        let reflected = |i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * u[i] * u[j] / length;
        let half: Vec<f64> =
            (0..n * n).map(|ij| (0..n).map(|k| reflected(ij / n, k) * path(k, ij % n)).sum()).collect();
        (0..n * n).map(|ij| (0..n).map(|k| half[ij / n * n + k] * reflected(k, ij % n)).sum()).collect()
    }

    #[test]
    fn eigenvalues_of_a_turned_path_are_found_between_their_neighbours() {
        for n in [1, 2, 3, 7, 40, 230] {
            let reduced = Tridiagonal::reduce(&mut turned_path(n), n, &Unmonitored).unwrap();
            for k in 1..=n {
                // Of the n eigenvalues, n - k lie below the k-th largest.
                let value = 2.0 * (std::f64::consts::PI * k as f64 / (n + 1) as f64).cos();
                assert_eq!(reduced.below(value - 1e-11), (n - k) as u64, "{n} {k}");
                assert_eq!(reduced.below(value + 1e-11), (n - k + 1) as u64, "{n} {k}");
            }
        }
    }

    #[test]
    fn the_threads_do_not_change_a_bit() {
        let reduce = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Tridiagonal::reduce(&mut turned_path(230), 230, &Unmonitored)).unwrap()
        };
        let (one, four) = (reduce(1), reduce(4));
        assert_eq!((one.diagonal, one.squares), (four.diagonal, four.squares));
    }
}
