//! Weighted sums of matrices of one shape and the gradients of their weights.

use bonnet_graph::{Monitor, Stopped};

use super::elementwise::Finish;
use super::parallel::{for_each_block, sum_blocks};
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors};

/// `out[r] = finish(sum over the matrices of coefficient * x[r])`, or added to the output as it is if `add`.
/// O(rows * width * matrices).
#[expect(clippy::too_many_arguments, reason = "the operands of a sum with their sizes")]
pub fn weighted_sum(
    set: &RowSet,
    xs: &[&[f32]],
    coefficients: &[f32],
    width: usize,
    add: bool,
    finish: Finish<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Sum<'a>(&'a [u32], usize, &'a [&'a [f32]], &'a [f32], usize, bool, Finish<'a>, &'a mut [f32]);
    impl Body for Sum<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, first, xs, coefficients, width, add, finish, out) = self;
            for &row in rows {
                let out = &mut out[(row as usize - first) * width..][..width];
                if !add {
                    out.fill(0.0);
                }
                for (x, &coefficient) in xs.iter().zip(coefficients) {
                    let x = &x[row as usize * width..][..width];
                    out.iter_mut().zip(x).for_each(|(out, x)| *out = V::fma(coefficient, *x, *out));
                }
                finish.row::<V>(row, out);
            }
        }
    }
    for_each_block(set, out, width, monitor, |rows, first, chunk| {
        simd::run(Sum(rows, first, xs, coefficients, width, add, finish, chunk));
    })
}

/// The scalar product of a matrix with each of several others over the rows of a set: the gradient of the coefficients of
/// [`weighted_sum`]. `partials` has room for `n_blocks * matrices`. O(rows * width * matrices).
pub fn scalar_products(
    set: &RowSet,
    gradient: &[f32],
    xs: &[&[f32]],
    width: usize,
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Dots<'a>(&'a [u32], &'a [f32], &'a [&'a [f32]], usize, &'a mut [f32]);
    impl Body for Dots<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, gradient, xs, width, sums) = self;
            for &row in rows {
                let gradient = &gradient[row as usize * width..][..width];
                for (x, sum) in xs.iter().zip(&mut *sums) {
                    *sum += dot::<V>(gradient, &x[row as usize * width..][..width]);
                }
            }
        }
    }
    sum_blocks(set, xs.len(), partials, out, monitor, |rows, partial| {
        simd::run(Dots(rows, gradient, xs, width, partial));
    })
}

/// The scalar product of two slices of a multiple of 8 values: eight sums, added pairwise.
#[inline(always)]
pub(crate) fn dot<V: Vectors>(a: &[f32], b: &[f32]) -> f32 {
    let mut acc: Lanes = [0.0; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for c in 0..8 {
            acc[c] = V::fma(a[c], b[c], acc[c]);
        }
    }
    let four = [acc[0] + acc[4], acc[1] + acc[5], acc[2] + acc[6], acc[3] + acc[7]];
    (four[0] + four[2]) + (four[1] + four[3])
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::ground::random::Stream;

    #[test]
    fn sums_and_scalar_products_equal_their_definitions() {
        let (n, width) = (300, 16);
        let set = RowSet::new(n, (0..n as u32).filter(|row| row % 3 != 0).collect());
        let mut stream = Stream::new(5);
        let mut random = || (0..n * width).map(|_| stream.normal() as f32).collect::<Vec<f32>>();
        let (a, b, g) = (random(), random(), random());
        let (xs, coefficients) = ([&a[..], &b[..]], [0.5f32, -2.0]);
        for add in [false, true] {
            let mut out = g.clone();
            let nothing = Finish::NOTHING;
            weighted_sum(&set, &xs, &coefficients, width, add, nothing, &mut out, &Unmonitored).unwrap();
            for at in 0..n * width {
                let sum = 0.5 * a[at] - 2.0 * b[at];
                let expected = match (at / width % 3 == 0, add) {
                    (true, _) => g[at],
                    (false, true) => g[at] + sum,
                    (false, false) => sum,
                };
                assert!((out[at] - expected).abs() < 1e-5, "{} for {expected}", out[at]);
            }
        }
        let (mut partials, mut got) = (vec![0.0; 2 * set.n_blocks()], [0f32; 2]);
        scalar_products(&set, &g, &xs, width, &mut partials, &mut got, &Unmonitored).unwrap();
        for (x, got) in xs.iter().zip(got) {
            let terms = (0..n * width).filter(|at| at / width % 3 != 0).map(|at| f64::from(g[at]) * f64::from(x[at]));
            let expected: f64 = terms.sum();
            assert!((f64::from(got) - expected).abs() < 1e-3, "{got} for {expected}");
        }
    }
}
