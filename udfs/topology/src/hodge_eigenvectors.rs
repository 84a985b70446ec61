//! Eigenvectors of Hodge Laplacians.

use bonnet_graph::{Monitor, Reservation};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};
use rayon::prelude::*;

use crate::{ChainComplex, Signs, SparseMatrix, SpectrumError};

/// Eigenvalues that differ by less, relative to the largest, count as one.
const SAME_VALUE: f64 = 1e-9;
/// The length below which a basis vector, of length 1, counts as in the span of others.
const DEPENDENT: f64 = 1e-6;

/// The first eigenvectors of the Hodge Laplacian of a dimension, complex by complex.
#[derive(Debug, Clone, PartialEq)]
pub struct HodgeEigenvectors {
    /// The number of eigenvectors for each complex.
    pub count: usize,
    /// The eigenvalues, ascending: `count` a complex, NaN behind those of a complex with fewer faces.
    pub values: Vec<f64>,
    /// The entries of the eigenvectors at each face of the direct sum: `count` a face, 0 behind those of a complex with
    /// fewer faces.
    pub vectors: Vec<f64>,
}

/// The eigenvectors of the `count` smallest eigenvalues of each complex's Hodge Laplacian of a dimension.
///
/// They are orthonormal and determined by the Laplacian alone, whatever the solver and the number of threads: the first
/// entry of each that is not 0 is positive; of an eigenvalue with several, the first is the projection of the first face
/// that has one, the next that of the first face outside its span, less its part in the span, and so on, each scaled to
/// length 1. Dense, one complex a thread: for f faces of a complex O(f^3) operations and 40 f^2 bytes.
///
/// # Errors
/// Where the iteration does not converge, and when the host wants no answer or grants no memory for it.
///
/// # Source
/// Lim, Hodge Laplacians on Graphs (SIAM Review 2020), Sec. 4; as positional codes of simplices: Ballester et al., Attending
/// to Topological Spaces: The Cellular Transformer (2024).
pub fn hodge_eigenvectors(
    complexes: &ChainComplex,
    dimension: usize,
    count: usize,
    monitor: &dyn Monitor,
) -> Result<HodgeEigenvectors, SpectrumError> {
    let laplacian = complexes.hodge_laplacian(dimension, Signs::Signed, monitor)?;
    let of_complex = |complex: usize| -> Result<(Vec<f64>, Vec<f64>), SpectrumError> {
        let faces = complexes.faces_of(complex, dimension);
        let (values, basis) = first_eigenvectors(&laplacian, faces.clone(), count, monitor)?;
        let mut vectors = vec![0.0; faces.len() * count];
        for (i, vector) in basis.iter().enumerate() {
            vector.iter().enumerate().for_each(|(face, entry)| vectors[face * count + i] = *entry);
        }
        Ok((values, vectors))
    };
    let all: Vec<_> =
        (0..complexes.n_complexes()).into_par_iter().map(of_complex).collect::<Result<_, SpectrumError>>()?;
    let mut found = HodgeEigenvectors { count, values: Vec::new(), vectors: Vec::new() };
    for (values, vectors) in all {
        let end = found.values.len() + count;
        found.values.extend(values);
        found.values.resize(end, f64::NAN);
        found.vectors.extend(vectors);
    }
    Ok(found)
}

/// The smallest eigenvalues of a block on the diagonal, and their vectors.
fn first_eigenvectors(
    matrix: &SparseMatrix<f32>,
    block: std::ops::Range<usize>,
    count: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<f64>, Vec<Vec<f64>>), SpectrumError> {
    let n = block.len();
    if n == 0 || count == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let _reservation = Reservation::new(monitor, n.saturating_mul(n).saturating_mul(40))?;
    monitor.check()?;
    let mut dense = Mat::<f64>::zeros(n, n);
    for face in block.clone() {
        for (other, value) in matrix.row(face) {
            dense[(face - block.start, other as usize - block.start)] = f64::from(value);
        }
    }
    let (mut values, mut vectors) = (Diag::<f64>::zeros(n), Mat::<f64>::zeros(n, n));
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    self_adjoint_evd(dense.as_ref(), values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Spec::default())
        .map_err(|_| SpectrumError::NoConvergence(n))?;
    let values: Vec<f64> = (0..n).map(|i| values[i].max(0.0)).collect();
    let tolerance = SAME_VALUE * values[n - 1].max(1.0);
    let (mut basis, mut start) = (Vec::new(), 0);
    while start < n && basis.len() < count {
        let same = values[start..].windows(2).take_while(|pair| pair[1] - pair[0] <= tolerance).count();
        let space: Vec<&[f64]> = (start..=start + same).map(|i| vectors.col_as_slice(i)).collect();
        basis.extend(echelon_basis(&space));
        start += same + 1;
    }
    basis.truncate(count);
    Ok((values[..count.min(n)].to_vec(), basis))
}

/// The orthonormal basis of a space, given by another one, in which the first entry of each vector that is not 0 is
/// positive and later vectors are 0 there: the projections of the axes in their order, made orthonormal.
fn echelon_basis(space: &[&[f64]]) -> Vec<Vec<f64>> {
    let n = space[0].len();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for axis in 0..n {
        if basis.len() == space.len() {
            break;
        }
        let mut vector = vec![0.0; n];
        space.iter().for_each(|other| add(&mut vector, other[axis], other));
        // Twice is enough (Parlett 1980).
        for _ in 0..2 {
            basis.iter().for_each(|other| {
                let factor = -dot(&vector, other);
                add(&mut vector, factor, other);
            });
        }
        let length = dot(&vector, &vector).sqrt();
        if length > DEPENDENT {
            vector.iter_mut().for_each(|entry| *entry /= length);
            basis.push(vector);
        }
    }
    basis
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(vector: &mut [f64], factor: f64, other: &[f64]) {
    vector.iter_mut().zip(other).for_each(|(entry, other)| *entry += factor * other);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facets, hodge_laplacian_spectrum};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(simplices: &[Vec<i64>], dimension: usize, count: usize) -> HodgeEigenvectors {
        let complex = ChainComplex::new(&Facets::new(simplices).unwrap(), &Unmonitored).unwrap();
        hodge_eigenvectors(&complex, dimension, count, &Unmonitored).unwrap()
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn closed_forms_of_a_path_and_of_cycles() {
        // A path of three vertices: constant, then (1, 0, -1), then (1, -2, 1).
        let path = of(&[vec![0, 1], vec![1, 2]], 0, 3);
        close(&path.values, &[0.0, 1.0, 3.0]);
        let (a, b, c) = (3f64.sqrt().recip(), 2f64.sqrt().recip(), 6f64.sqrt().recip());
        close(&path.vectors, &[a, b, c, a, 0.0, -2.0 * c, a, -b, c]);
        // The edges of a cycle, 01, 03, 12, 23: the harmonic one runs round it.
        let cycle = of(&[vec![0, 1], vec![1, 2], vec![2, 3], vec![0, 3]], 1, 1);
        close(&cycle.values, &[0.0]);
        close(&cycle.vectors, &[0.5, -0.5, 0.5, 0.5]);
        // The double eigenvalue 2 of the same cycle's vertices: (1, 0, -1, 0), then (0, 1, 0, -1).
        let vertices = of(&[vec![0, 1], vec![1, 2], vec![2, 3], vec![0, 3]], 0, 3);
        close(&vertices.values, &[0.0, 2.0, 2.0]);
        close(&vertices.vectors, &[0.5, b, 0.0, 0.5, 0.0, b, 0.5, -b, 0.0, 0.5, 0.0, -b]);
    }

    #[test]
    fn a_complex_with_fewer_faces_is_filled_up() {
        let found = of(&[vec![7, 9]], 0, 3);
        let b = 2f64.sqrt().recip();
        close(&found.vectors, &[b, b, 0.0, b, -b, 0.0]);
        close(&found.values[..2], &[0.0, 2.0]);
        assert!(found.values[2].is_nan());
        let above = of(&[vec![7, 9]], 2, 2);
        assert!(above.vectors.is_empty() && above.values.iter().all(|value| value.is_nan()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn vectors_are_orthonormal_and_the_laplacian_stretches_them(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..9, 1..5), 1..14),
        ) {
            let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            let facets = Facets::new(&lists).unwrap();
            let complex = ChainComplex::new(&facets, &Unmonitored).unwrap();
            for k in 0..=facets.dimension() {
                let n = complex.n_faces(k);
                let spectrum = hodge_laplacian_spectrum(&facets, k, &Unmonitored).unwrap();
                let found = hodge_eigenvectors(&complex, k, n, &Unmonitored).unwrap();
                let laplacian = complex.hodge_laplacian(k, Signs::Signed, &Unmonitored).unwrap();
                for (i, expected) in spectrum.iter().enumerate() {
                    prop_assert!((found.values[i] - expected).abs() < 1e-10);
                    let column = |j: usize| (0..n).map(|face| found.vectors[face * n + j]).collect::<Vec<_>>();
                    let vector = column(i);
                    let first = vector.iter().find(|entry| entry.abs() > 1e-5).unwrap();
                    prop_assert!(*first > 0.0);
                    for j in 0..n {
                        let expected = if i == j { 1.0 } else { 0.0 };
                        prop_assert!((dot(&vector, &column(j)) - expected).abs() < 1e-9);
                    }
                    for face in 0..n {
                        let product: f64 =
                            laplacian.row(face).map(|(other, value)| f64::from(value) * vector[other as usize]).sum();
                        prop_assert!((product - found.values[i] * vector[face]).abs() < 1e-8);
                    }
                }
            }
        }
    }
}
