//! Tall matrices of few columns, as iterations on subspaces hold them, and eigenpairs of small symmetric matrices.
//!
//! A matrix is a slice, a row of `width` numbers after the other. Sums go over blocks of rows in their order: the same bits for any
//! number of threads.

use bonnet_graph::{AlgorithmError, Monitor};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};
use rayon::prelude::*;

/// Rows that a task takes at a time, and whose products are summed together.
pub const BLOCK: usize = 1 << 10;

/// Every eigenvalue of a symmetric matrix of `n` rows, ascending, and the vectors: entry `r n + c` is that of row r in the vector of
/// eigenvalue c. O(n^3), on one thread.
///
/// # Errors
/// If they are not found, as in a matrix with NaN.
pub fn symmetric(n: usize, matrix: &[f64]) -> Result<(Vec<f64>, Vec<f64>), AlgorithmError> {
    let matrix = Mat::from_fn(n, n, |r, c| matrix[r * n + c]);
    let (mut values, mut vectors) = (Diag::<f64>::zeros(n), Mat::<f64>::zeros(n, n));
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    let found =
        self_adjoint_evd(matrix.as_ref(), values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Spec::default());
    let mut rows = vec![0.0; n * n];
    for r in 0..n {
        (0..n).for_each(|c| rows[r * n + c] = vectors[(r, c)]);
    }
    match found {
        Ok(()) => Ok(((0..n).map(|i| values[i]).collect(), rows)),
        Err(_) => AlgorithmError::input(format!("the eigenvalues of a matrix of {n} rows were not found")),
    }
}

/// `x' y`, a symmetric matrix of `width` rows.
///
/// # Errors
/// If the monitor stops it.
pub fn products(x: &[f64], y: &[f64], width: usize, monitor: &dyn Monitor) -> Result<Vec<f64>, AlgorithmError> {
    let block = |(x, y): (&[f64], &[f64])| {
        monitor.check()?;
        let mut sums = vec![0.0; width * width];
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(width)) {
            for (x, sums) in x.iter().zip(sums.chunks_exact_mut(width)) {
                sums.iter_mut().zip(y).for_each(|(sum, y)| *sum += x * y);
            }
        }
        Ok(sums)
    };
    let blocks = x.par_chunks(BLOCK * width).zip(y.par_chunks(BLOCK * width)).map(block);
    let blocks: Vec<Vec<f64>> = blocks.collect::<Result<_, AlgorithmError>>()?;
    let mut all = vec![0.0; width * width];
    blocks.iter().for_each(|sums| all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum));
    // Of a symmetric product, both halves alike.
    Ok((0..width * width).map(|at| 0.5 * (all[at] + all[at % width * width + at / width])).collect())
}

/// `x <- x w`, where `w` has `width` rows; `room` is as large as `x`.
pub fn turn(x: &mut [f64], room: &mut [f64], w: &[f64], width: usize) {
    room.par_chunks_mut(BLOCK * width).zip(x.par_chunks(BLOCK * width)).for_each(|(out, x)| {
        for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
            out.fill(0.0);
            for (x, w) in x.iter().zip(w.chunks_exact(width)) {
                out.iter_mut().zip(w).for_each(|(out, w)| *out += x * w);
            }
        }
    });
    x.copy_from_slice(room);
}

/// Makes the columns orthonormal, by the eigenvectors of their products (Stathopoulos and Wu 2002), twice. `room` is as large as `x`.
///
/// # Errors
/// If an entry is no number, or the monitor stops it.
pub fn orthonormalise(
    x: &mut [f64],
    room: &mut [f64],
    width: usize,
    monitor: &dyn Monitor,
) -> Result<(), AlgorithmError> {
    for _ in 0..2 {
        let gram = products(x, x, width, monitor)?;
        // Columns of length 1 first.
        let scale: Vec<f64> = (0..width).map(|c| gram[c * width + c].max(f64::MIN_POSITIVE).sqrt().recip()).collect();
        let at = |at: usize| scale[at / width] * gram[at] * scale[at % width];
        let (values, vectors) = symmetric(width, &(0..width * width).map(at).collect::<Vec<_>>())?;
        let least = values[width - 1] * f64::EPSILON * width as f64;
        let at = |at: usize| scale[at / width] * vectors[at] / values[at % width].max(least).sqrt();
        turn(x, room, &(0..width * width).map(at).collect::<Vec<_>>(), width);
    }
    Ok(())
}
