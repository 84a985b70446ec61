//! Products through a few columns: aggregation among all pairs of nodes in time linear in the nodes.
//!
//! `X (Y' Z)` is the product of the `n x n` matrix `X Y'` with `Z`, and `H (c H' H + a I)^-1` that of
//! `(c H H' + a I)^-1` with `H` (the push-through identity behind Woodbury's formula): an `n x n` matrix is never formed.
//! Matrices of nodes have `k` stored columns, the small ones are `k x k`; columns of zeros stay zero.

use bonnet_graph::{Monitor, Stopped};

use super::dense::{Left, transposed_product};
use super::rows::RowSet;

/// The inverse of a symmetric positive definite matrix, row-major, by its Cholesky factor, in `f64`; none if a pivot is not
/// positive: the matrix is not definite, or not finite. O(k^3).
pub fn inverse(k: usize, matrix: &[f64]) -> Option<Vec<f64>> {
    // matrix = L L', L below the diagonal.
    let mut l = vec![0f64; k * k];
    for i in 0..k {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|m| l[i * k + m] * l[j * k + m]).sum();
            let rest = matrix[i * k + j] - sum;
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                l[i * k + i] = rest.sqrt();
            } else {
                l[i * k + j] = rest / l[j * k + j];
            }
        }
    }
    // Row i of L^-1 from those above it, then L^-T L^-1.
    let mut m = vec![0f64; k * k];
    for i in 0..k {
        for j in 0..=i {
            let unit = if i == j { 1.0 } else { 0.0 };
            let sum: f64 = (j..i).map(|p| l[i * k + p] * m[p * k + j]).sum();
            m[i * k + j] = (unit - sum) / l[i * k + i];
        }
    }
    let mut inverse = vec![0f64; k * k];
    for i in 0..k {
        for j in 0..=i {
            let sum: f64 = (i..k).map(|p| m[p * k + i] * m[p * k + j]).sum();
            (inverse[i * k + j], inverse[j * k + i]) = (sum, sum);
        }
    }
    Some(inverse)
}

/// The small matrix of a ridge product: `Q = scale * H (c H' H + a I)^-1 = H K`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ridge {
    /// The factor of the Gram matrix, at least 0.
    pub c: f64,
    /// The term that is added to its diagonal, positive.
    pub a: f64,
    /// The factor of the product.
    pub scale: f64,
}

impl Ridge {
    /// `K`, from all rows of `H` in `set`: NaN throughout if `H` is not finite. `partials` has room for
    /// `n_blocks * k * k`. O(rows * k^2 + k^3).
    pub fn forward(
        self,
        set: &RowSet,
        h: &[f32],
        k: usize,
        partials: &mut [f32],
        out: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        transposed_product(set, Left::new(h, k), h, k, partials, out, monitor)?;
        match self.inverse(k, out) {
            Some(inverse) => out.iter_mut().zip(inverse).for_each(|(out, x)| *out = (self.scale * x) as f32),
            None => out[..k * k].fill(f32::NAN),
        }
        Ok(())
    }

    fn inverse(self, k: usize, gram: &[f32]) -> Option<Vec<f64>> {
        let mut matrix: Vec<f64> = gram[..k * k].iter().map(|&g| self.c * f64::from(g)).collect();
        (0..k).for_each(|i| matrix[i * k + i] += self.a);
        inverse(k, &matrix)
    }

    /// The symmetric matrix `S` that carries the gradient through `K`: `d_H = d_Q K + H S`. In: `K` and `d_k = H' d_Q`.
    /// `S = -(c / scale) (K d_k K + (K d_k K)')`. O(k^3).
    pub fn backward(self, k: usize, small: &[f32], d_k: &[f32], out: &mut [f32]) {
        let product = |a: &[f64], b: &[f64]| {
            let mut out = vec![0f64; k * k];
            for (out, a) in out.chunks_exact_mut(k.max(1)).zip(a.chunks_exact(k.max(1))) {
                for (&factor, b) in a.iter().zip(b.chunks_exact(k)) {
                    out.iter_mut().zip(b).for_each(|(out, b)| *out += factor * b);
                }
            }
            out
        };
        let wide = |x: &[f32]| x[..k * k].iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let small = wide(small);
        let both = product(&product(&small, &wide(d_k)), &small);
        let factor = -self.c / self.scale;
        for i in 0..k {
            for j in 0..k {
                out[i * k + j] = (factor * (both[i * k + j] + both[j * k + i])) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::ground::random::{Stream, key};
    use crate::kernels::dense::{Then, product};
    use crate::kernels::elementwise::Finish;

    fn random(seed: u64, len: usize) -> Vec<f32> {
        let mut stream = Stream::new(key(&[seed]));
        (0..len).map(|_| stream.normal() as f32).collect()
    }

    #[test]
    fn an_inverse_times_its_matrix_is_the_identity() {
        for k in [1, 2, 5, 16] {
            let root = random(k as u64, k * k);
            let matrix: Vec<f64> = (0..k * k)
                .map(|at| {
                    let (i, j) = (at / k, at % k);
                    let sum: f64 = (0..k).map(|m| f64::from(root[i * k + m]) * f64::from(root[j * k + m])).sum();
                    sum + if i == j { 0.1 } else { 0.0 }
                })
                .collect();
            let inverse = inverse(k, &matrix).unwrap();
            for i in 0..k {
                for j in 0..k {
                    let sum: f64 = (0..k).map(|m| inverse[i * k + m] * matrix[m * k + j]).sum();
                    assert!((sum - if i == j { 1.0 } else { 0.0 }).abs() < 1e-10, "{k}: ({i}, {j}) is {sum}");
                }
            }
        }
        // The inverse of ((2, 1), (1, 2)) is ((2, -1), (-1, 2)) / 3.
        let third = inverse(2, &[2.0, 1.0, 1.0, 2.0]).unwrap();
        for (got, expected) in third.iter().zip([2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0]) {
            assert!((got - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_none() {
        assert!(inverse(2, &[1.0, 2.0, 2.0, 1.0]).is_none());
        assert!(inverse(1, &[f64::NAN]).is_none() && inverse(1, &[f64::INFINITY]).is_none());
        assert_eq!(inverse(0, &[]), Some(vec![]));
    }

    fn ridge(ridge: Ridge, n: usize, h: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let set = RowSet::all(n);
        let (mut partials, mut small) = (vec![0.0; set.n_blocks() * 64], vec![0.0; 64]);
        ridge.forward(&set, h, 8, &mut partials, &mut small, &Unmonitored).unwrap();
        let mut out = vec![0.0; n * 8];
        product(&set, Left::new(h, 8), &small, 8, Then::Finish(Finish::NOTHING), &mut out, &Unmonitored).unwrap();
        (small, out)
    }

    #[test]
    fn the_ridge_product_equals_the_inverse_of_the_matrix_of_all_pairs() {
        let (n, h) = (30, random(1, 240));
        let form = Ridge { c: 0.7, a: 0.4, scale: 1.5 };
        let (_, out) = ridge(form, n, &h);
        // (c H H' + a I) out = scale * H, with the n x n matrix written out.
        for i in 0..n {
            for c in 0..8 {
                let term = |j: usize| {
                    let pair: f64 = (0..8).map(|m| f64::from(h[i * 8 + m]) * f64::from(h[j * 8 + m])).sum();
                    (form.c * pair + if i == j { form.a } else { 0.0 }) * f64::from(out[j * 8 + c])
                };
                let (got, expected) = ((0..n).map(term).sum::<f64>(), form.scale * f64::from(h[i * 8 + c]));
                assert!((got - expected).abs() < 2e-5, "({i}, {c}): {got} for {expected}");
            }
        }
    }

    #[test]
    fn the_ridge_gradient_equals_finite_differences() {
        let (n, h, g) = (20, random(2, 160), random(3, 160));
        let form = Ridge { c: 0.3, a: 0.9, scale: 0.8 };
        let set = RowSet::all(n);
        // The definition in f64: sum of g * Q.
        let value = |h: &[f64]| {
            let mut gram = [0f64; 64];
            for row in h.chunks(8) {
                (0..64).for_each(|at| gram[at] += form.c * row[at / 8] * row[at % 8]);
            }
            (0..8).for_each(|i| gram[i * 9] += form.a);
            let inverse = inverse(8, &gram).unwrap();
            let mut sum = 0.0;
            for (row, g) in h.chunks(8).zip(g.chunks(8)) {
                for c in 0..8 {
                    let q: f64 = (0..8).map(|m| row[m] * inverse[m * 8 + c]).sum();
                    sum += form.scale * q * f64::from(g[c]);
                }
            }
            sum
        };
        let (small, _) = ridge(form, n, &h);
        let (mut partials, mut d_k, mut s) = (vec![0.0; 64], vec![0.0; 64], vec![0.0; 64]);
        transposed_product(&set, Left::new(&h, 8), &g, 8, &mut partials, &mut d_k, &Unmonitored).unwrap();
        form.backward(8, &small, &d_k, &mut s);
        let wide: Vec<f64> = h.iter().map(|&x| f64::from(x)).collect();
        for at in 0..160 {
            let (row, c) = (at / 8 * 8, at % 8);
            let direct: f64 = (0..8).map(|m| f64::from(g[row + m]) * f64::from(small[m * 8 + c])).sum();
            let through: f64 = (0..8).map(|m| f64::from(h[row + m]) * f64::from(s[m * 8 + c])).sum();
            let moved = |by: f64| {
                value(&wide.iter().enumerate().map(|(i, x)| x + if i == at { by } else { 0.0 }).collect::<Vec<_>>())
            };
            let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((direct + through - expected).abs() < 1e-5, "{at}: {} for {expected}", direct + through);
        }
    }

    #[test]
    fn columns_of_zeros_stay_zero_and_what_is_not_finite_shows() {
        let mut h = random(4, 80);
        h.chunks_mut(8).for_each(|row| row[5..].fill(0.0));
        let form = Ridge { c: 1.0, a: 0.5, scale: 1.0 };
        let (_, out) = ridge(form, 10, &h);
        assert!(out.chunks(8).all(|row| row[5..] == [0.0; 3]));
        h[0] = f32::INFINITY;
        assert!(ridge(form, 10, &h).1.iter().all(|x| x.is_nan()));
    }
}
