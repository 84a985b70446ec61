//! Dense linear algebra on one thread: parallel work is made of many small problems, and its results must not depend on
//! the number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Accum, Mat, MatRef, Par};

/// The singular values of a matrix, from the largest; all zero where the decomposition fails, as only matrices with an
/// entry that is not finite do.
pub(crate) fn singular_values(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let (rows, columns) = matrix.shape();
    let size = rows.min(columns);
    let mut values: Diag<f64> = Diag::zeros(size);
    let none = ComputeSvdVectors::No;
    let mut memory = MemBuffer::new(svd_scratch::<f64>(rows, columns, none, none, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    match svd(matrix, values.as_mut(), None, None, Par::Seq, stack, Default::default()) {
        Ok(()) => (0..size).map(|i| values[i].max(0.0)).collect(),
        Err(_) => vec![0.0; size],
    }
}

/// A B^T, or A B.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut result = Mat::zeros(a.nrows(), b.ncols());
    matmul(result.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    result
}

/// K^+ B for a symmetric K, by its eigenvalues; those below n eps times the largest, in size, count as zero. `None` where
/// the decomposition fails, as for an entry that is not finite.
pub(crate) fn pseudo_inverse_times(k: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let n = k.nrows();
    let mut values: Diag<f64> = Diag::zeros(n);
    let mut vectors: Mat<f64> = Mat::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    self_adjoint_evd(k, values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Default::default()).ok()?;
    let largest = (0..n).map(|i| values[i].abs()).fold(0.0, f64::max);
    let least = n as f64 * f64::EPSILON * largest;
    let mut coordinates = product(vectors.transpose(), b);
    for row in 0..n {
        let value = values[row];
        let factor = if value.abs() > least { 1.0 / value } else { 0.0 };
        (0..b.ncols()).for_each(|column| coordinates[(row, column)] *= factor);
    }
    Some(product(vectors.as_ref(), coordinates.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_values_of_a_rectangle() {
        // Rows (3, 0), (0, 4), (0, 0): 4 and 3; a row of ones k times: sqrt(2 k).
        let matrix = Mat::from_fn(3, 2, |i, j| [[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]][i][j]);
        let values = singular_values(matrix.as_ref());
        assert!((values[0] - 4.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14, "{values:?}");
        let values = singular_values(Mat::from_fn(8, 2, |_, _| 1.0).as_ref());
        assert!((values[0] - 4.0).abs() < 1e-14 && values[1].abs() < 1e-14, "{values:?}");
    }

    #[test]
    fn the_pseudo_inverse_solves_in_the_least_squares_sense() {
        // K = [[2, 2], [2, 2]]: K^+ = K / 16, so K^+ (1, 3) = (8, 8) / 16.
        let k = Mat::from_fn(2, 2, |_, _| 2.0);
        let b = Mat::from_fn(2, 1, |i, _| [1.0, 3.0][i]);
        let x = pseudo_inverse_times(k.as_ref(), b.as_ref()).unwrap();
        assert!((x[(0, 0)] - 0.5).abs() < 1e-14 && (x[(1, 0)] - 0.5).abs() < 1e-14);
        let k = Mat::from_fn(2, 2, |i, j| [[2.0, 1.0], [1.0, 3.0]][i][j]);
        let x = pseudo_inverse_times(k.as_ref(), b.as_ref()).unwrap();
        assert!(x[(0, 0)].abs() < 1e-14 && (x[(1, 0)] - 1.0).abs() < 1e-14);
    }
}
