//! The spectrum of the Hodge Laplacian.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::boundary_matrix::entries;
use crate::faces::{FacesError, faces_from};
use crate::{Faces, Facets};

/// Rows that one task updates.
const ROWS: usize = 32;

/// Why there is no spectrum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpectrumError {
    /// The faces cannot be listed, or the host ended the computation.
    #[error(transparent)]
    Faces(#[from] FacesError),
    /// The iteration for an eigenvalue did not end.
    #[error("the eigenvalues of a matrix of {0} rows did not converge")]
    NoConvergence(usize),
}

impl From<Stopped> for SpectrumError {
    fn from(stopped: Stopped) -> Self {
        Self::Faces(stopped.into())
    }
}

/// The eigenvalues, ascending, of the Hodge Laplacian `B_k^T B_k + B_{k+1} B_{k+1}^T` on the faces of one dimension k,
/// with B the boundary matrices; empty above the complex's dimension. All are at least 0 (one that rounding puts below
/// is given as 0), and as many are 0, up to rounding, as the Betti number of that dimension. Dense: for f faces 8 f^2
/// bytes and O(f^3) operations, on all threads; the same answer for any number of them.
///
/// # Errors
/// [`SpectrumError::Faces`] where the faces cannot be listed, or when the host wants no answer or grants no memory for it.
///
/// # Source
/// Eckmann, Harmonische Funktionen und Randwertaufgaben in einem Komplex (1945); Lim, Hodge Laplacians on Graphs (SIAM
/// Review 2020), Sec. 4. Householder's reduction and the implicit QL iteration: Golub and Van Loan, Matrix Computations
/// (4th ed. 2013), Sec. 8.3.
pub fn hodge_laplacian_spectrum(
    facets: &Facets,
    dimension: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, SpectrumError> {
    if dimension > facets.dimension() {
        return Ok(Vec::new());
    }
    let lowest = dimension.saturating_sub(1);
    let levels = faces_from(facets, lowest, monitor)?;
    let faces = &levels[dimension - lowest];
    let below = (dimension > 0).then(|| &levels[0]);
    let above = levels.get(dimension - lowest + 1);
    let n = faces.len();
    let bytes = n.checked_mul(n).and_then(|entries| entries.checked_mul(8)).unwrap_or(usize::MAX);
    let _reservation = Reservation::new(monitor, bytes)?;
    let mut matrix = laplacian(faces, below, above, monitor)?;
    let (mut diagonal, mut off_diagonal) = tridiagonal(&mut matrix, n, monitor)?;
    drop(matrix);
    eigenvalues(&mut diagonal, &mut off_diagonal, monitor)?;
    diagonal.iter_mut().for_each(|value| *value = value.max(0.0));
    diagonal.sort_unstable_by(f64::total_cmp);
    Ok(diagonal)
}

/// The dense matrix, row by row: sums of products of signs.
fn laplacian(
    faces: &Faces,
    below: Option<&Faces>,
    above: Option<&Faces>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, FacesError> {
    let n = faces.len();
    let mut matrix = vec![0.0; n * n];
    let mut add = |group: &[(usize, i64)]| {
        for &(i, sign) in group {
            group.iter().for_each(|&(j, other)| matrix[i * n + j] += (sign * other) as f64);
        }
    };
    if let Some(below) = below {
        let mut entries = entries(faces, below, monitor)?;
        entries.sort_unstable_by_key(|entry| (entry.row, entry.column));
        for group in entries.chunk_by(|a, b| a.row == b.row) {
            add(&group.iter().map(|entry| (entry.column, entry.value)).collect::<Vec<_>>());
        }
    }
    if let Some(above) = above {
        let entries = entries(above, faces, monitor)?;
        for group in entries.chunk_by(|a, b| a.column == b.column) {
            add(&group.iter().map(|entry| (entry.row, entry.value)).collect::<Vec<_>>());
        }
    }
    Ok(matrix)
}

/// Brings a symmetric matrix to tridiagonal form by Householder reflections: its diagonal and what stands beside it.
/// Taking one reflection off and multiplying with the next are one pass over the matrix.
fn tridiagonal(matrix: &mut [f64], n: usize, monitor: &dyn Monitor) -> Result<(Vec<f64>, Vec<f64>), Stopped> {
    let (mut diagonal, mut off_diagonal) = (vec![0.0; n], vec![0.0; n]);
    // The reflection of the step before, which the rows from `k` on have still to see: A -= v w^T + w v^T.
    let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
    let mut next = vec![0.0; n];
    monitor.expect(n as u64);
    for k in 0..n {
        monitor.check()?;
        let (row, rest) = matrix[k * n..].split_at_mut(n);
        update(row, v[k], w[k], &v, &w, k);
        diagonal[k] = row[k];
        if k + 1 == n {
            break;
        }
        // The reflection that sends the rest of the row to a multiple of its first entry.
        let tail = &row[k + 1..];
        let norm = tail.iter().map(|x| x * x).sum::<f64>().sqrt();
        let beyond = tail[1..].iter().map(|x| x * x).sum::<f64>();
        next.fill(0.0);
        let mut scale = 0.0;
        if beyond > 0.0 {
            let alpha = if tail[0] > 0.0 { -norm } else { norm };
            off_diagonal[k] = alpha;
            next[k + 1..].copy_from_slice(tail);
            next[k + 1] -= alpha;
            scale = 2.0 / (next[k + 1] * next[k + 1] + beyond);
        } else {
            off_diagonal[k] = tail[0];
        }
        // Rows are independent, and each sums in its own order.
        let mut product = vec![0.0; n];
        rest.par_chunks_mut(n * ROWS).zip(product[k + 1..].par_chunks_mut(ROWS)).enumerate().for_each(
            |(block, (rows, products))| {
                for (i, (row, product)) in rows.chunks_mut(n).zip(products).enumerate() {
                    let at = k + 1 + block * ROWS + i;
                    update(row, v[at], w[at], &v, &w, k + 1);
                    *product = scale * dot(&row[k + 1..], &next[k + 1..]);
                }
            },
        );
        let half = 0.5 * scale * dot(&product[k + 1..], &next[k + 1..]);
        product[k + 1..].iter_mut().zip(&next[k + 1..]).for_each(|(p, v)| *p -= half * v);
        std::mem::swap(&mut v, &mut next);
        w = product;
        monitor.advance(1);
    }
    Ok((diagonal, off_diagonal))
}

fn update(row: &mut [f64], vi: f64, wi: f64, v: &[f64], w: &[f64], from: usize) {
    if vi != 0.0 || wi != 0.0 {
        for ((entry, v), w) in row[from..].iter_mut().zip(&v[from..]).zip(&w[from..]) {
            *entry -= vi * w + wi * v;
        }
    }
}

/// In four strands, which is faster and no less exact than one.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    let mut strands = [0.0; 4];
    for (a, b) in a4.iter().zip(b4) {
        (0..4).for_each(|i| strands[i] += a[i] * b[i]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (strands[0] + strands[1]) + (strands[2] + strands[3]) + rest
}

/// The eigenvalues of a symmetric tridiagonal matrix, in place of its diagonal, by the QL iteration with implicit
/// shifts. O(n^2).
fn eigenvalues(d: &mut [f64], e: &mut [f64], monitor: &dyn Monitor) -> Result<(), SpectrumError> {
    const ITERATIONS: usize = 100;
    let n = d.len();
    for l in 0..n {
        monitor.check()?;
        let mut iterations = 0;
        loop {
            // The block that begins at l ends where the entry beside the diagonal is negligible.
            let negligible = |m: usize| e[m].abs() <= f64::EPSILON * (d[m].abs() + d[m + 1].abs());
            let m = (l..n - 1).find(|&m| negligible(m)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            iterations += 1;
            if iterations > ITERATIONS {
                return Err(SpectrumError::NoConvergence(n));
            }
            let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let shift = d[l] - e[l] / (g + g.signum() * g.hypot(1.0));
            let mut g = d[m] - shift;
            let (mut sine, mut cosine, mut p) = (1.0f64, 1.0f64, 0.0f64);
            let mut split = false;
            for i in (l..m).rev() {
                let (f, b) = (sine * e[i], cosine * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    // The rotation ends early: the matrix has split.
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    split = true;
                    break;
                }
                (sine, cosine) = (f / r, g / r);
                let q = d[i + 1] - p;
                let r = (d[i] - q) * sine + 2.0 * cosine * b;
                p = sine * r;
                d[i + 1] = q + p;
                g = cosine * r - b;
            }
            if !split {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::homology;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(simplices: &[Vec<i64>], dimension: usize) -> Vec<f64> {
        hodge_laplacian_spectrum(&Facets::new(simplices).unwrap(), dimension, &Unmonitored).unwrap()
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
    }

    #[test]
    fn closed_forms_of_cycles_and_simplices() {
        // A cycle: 2 - 2 cos(2 pi i / n), for vertices and for edges.
        for n in [3i64, 5, 12, 70] {
            let cycle: Vec<Vec<i64>> = (0..n).map(|i| vec![i, (i + 1) % n]).collect();
            let mut expected: Vec<f64> =
                (0..n).map(|i| 2.0 - 2.0 * (std::f64::consts::TAU * i as f64 / n as f64).cos()).collect();
            expected.sort_by(f64::total_cmp);
            close(&of(&cycle, 0), &expected);
            close(&of(&cycle, 1), &expected);
        }
        // A full simplex on n vertices: every Laplacian above dimension 0 is n times the identity.
        for n in 2..7usize {
            let simplex = [(0..n as i64).collect::<Vec<_>>()];
            for k in 1..n {
                let faces = of(&simplex, k).len();
                close(&of(&simplex, k), &vec![n as f64; faces]);
            }
            let mut expected = vec![n as f64; n];
            expected[0] = 0.0;
            close(&of(&simplex, 0), &expected);
        }
    }

    #[test]
    fn the_answer_does_not_depend_on_the_number_of_threads() {
        let torus: Vec<Vec<i64>> = (0..6)
            .flat_map(|i| (0..7).map(move |j| (i, j)))
            .flat_map(|(i, j)| {
                let v = |i: i64, j: i64| i % 6 * 7 + j % 7;
                [vec![v(i, j), v(i + 1, j), v(i + 1, j + 1)], vec![v(i, j), v(i, j + 1), v(i + 1, j + 1)]]
            })
            .collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| of(&torus, 1)).into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(with(1), with(3));
        assert_eq!(of(&torus, 1).iter().filter(|value| **value < 1e-9).count(), 2);
    }

    #[test]
    fn nothing_above_the_dimension() {
        assert!(of(&[vec![1, 2, 3]], 3).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn traces_and_kernels_are_those_of_the_definition(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..9, 1..5), 1..14),
        ) {
            let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            let facets = Facets::new(&lists).unwrap();
            let betti = homology(&facets, &Unmonitored).unwrap().betti_numbers().to_vec();
            let levels = faces_from(&facets, 0, &Unmonitored).unwrap();
            for (k, betti) in betti.into_iter().enumerate() {
                let spectrum = of(&lists, k);
                prop_assert_eq!(spectrum.iter().filter(|value| **value < 1e-9).count() as u64, betti);
                // The trace counts k + 1 for each face's boundary (none for a vertex) and 1 for each coface.
                let own = if k == 0 { 0 } else { (k + 1) * levels[k].len() };
                let cofaces = levels.get(k + 1).map_or(0, |above| (k + 2) * above.len());
                let trace: f64 = spectrum.iter().sum();
                prop_assert!((trace - (own + cofaces) as f64).abs() < 1e-9);
                // And the sum of squares is that of the matrix's entries.
                let below = (k > 0).then(|| &levels[k - 1]);
                let matrix = laplacian(&levels[k], below, levels.get(k + 1), &Unmonitored).unwrap();
                let squares: f64 = matrix.iter().map(|x| x * x).sum();
                prop_assert!((spectrum.iter().map(|x| x * x).sum::<f64>() - squares).abs() < 1e-8);
            }
        }
    }
}
