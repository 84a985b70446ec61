//! Spaces of constant curvature and their products, as candle expressions of rows.
//!
//! A point is stored by its normal coordinates, the tangent vector at the origin whose exponential it is, or (on the
//! hyperboloid) by its space coordinates: every row of numbers is a point, so that rounding a row to `f32` leaves no
//! manifold, and one far out keeps its digits. Expressions compute in `f64`; see [`radial`] for the bounds.
//!
//! Curvatures are tensors of 1 x 1 or of a column, so that they can be learnt.

pub mod distance;
mod dual;
pub mod hyperbolic;
pub mod lorentz;
pub mod neighbors;
pub mod pairs;
pub mod product;
pub mod pseudo_hyperboloid;
pub mod space;
pub mod stereographic;

use candle_core::{D, Result, Tensor};

pub use crate::ground::{PointSpace, Radial, radial};
pub use crate::kernels::pairs::sigmoid;
pub use dual::Dual;
pub use hyperbolic::{Curvature, Manifold};
pub use space::{Factor, Geometry, Space};

/// The inner product of the rows, a column.
pub fn dot(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    x.broadcast_mul(y)?.sum_keepdim(D::Minus1)
}

/// The squared length of the rows, a column.
pub fn square(x: &Tensor) -> Result<Tensor> {
    x.sqr()?.sum_keepdim(D::Minus1)
}

/// `ln(1 + e^raw)`: a positive number of any real one.
pub fn softplus(raw: &Tensor) -> Result<Tensor> {
    // ln(1 + e^-|x|) + max(x, 0), without overflow.
    let size = raw.abs()?;
    (size.neg()?.exp()? + 1.0)?.log()?.add(&((raw + size)? * 0.5)?)
}

/// `softplus` of a number.
pub fn softplus_of(raw: f64) -> f64 {
    (-raw.abs()).exp().ln_1p() + raw.max(0.0)
}

/// The inner product of two rows.
pub fn inner(x: &[f64], y: &[f64]) -> f64 {
    // Sums of their own, so that products need not wait for one another.
    let (left, right) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 4];
    for (x, y) in left.zip(right) {
        (0..4).for_each(|at| sums[at] += x[at] * y[at]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Where `softplus` is `value`.
pub fn softplus_inverse(value: f64) -> f64 {
    value.exp_m1().ln()
}

#[cfg(test)]
pub(crate) mod tests {
    use candle_core::Device;

    use super::*;
    use crate::ground::random::Stream;

    /// Rows of normal numbers times a length.
    pub(crate) fn normal(rows: usize, columns: usize, length: f64, seed: u64) -> Tensor {
        let mut stream = Stream::new(seed);
        let values: Vec<f64> = (0..rows * columns).map(|_| length * stream.normal()).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
    }

    pub(crate) fn scalar(value: f64) -> Tensor {
        Tensor::from_vec(vec![value], (1, 1), &Device::Cpu).unwrap()
    }

    pub(crate) fn values(x: &Tensor) -> Vec<f64> {
        x.flatten_all().unwrap().to_vec1().unwrap()
    }

    pub(crate) fn close(x: &Tensor, y: &Tensor, tolerance: f64) {
        let (x, y) = (values(x), values(y));
        assert_eq!(x.len(), y.len());
        for (at, (x, y)) in x.iter().zip(&y).enumerate() {
            assert!((x - y).abs() <= tolerance * y.abs().max(1.0), "{at}: {x} for {y}");
        }
    }

    #[test]
    fn softplus_is_smooth_and_does_not_overflow() {
        let x = Tensor::from_vec(vec![-800.0, -1.0, 0.0, 1.0, 800.0], (5, 1), &Device::Cpu).unwrap();
        let expected = [0.0, (-1f64).exp().ln_1p(), 2f64.ln(), 1f64.exp().ln_1p(), 800.0];
        for (found, expected) in values(&softplus(&x).unwrap()).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
        assert!((softplus_inverse(0.7).exp().ln_1p() - 0.7).abs() < 1e-14);
    }
}
