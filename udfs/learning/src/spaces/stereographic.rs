//! The kappa-stereographic model (Bachmann, Becigneul and Ganea 2020, Constant curvature graph convolutional networks): the
//! Poincare ball for kappa < 0, flat space for 0, the sphere projected from a pole for kappa > 0, smooth in kappa.
//!
//! In the ball points stay within [`super::radial::ARTANH_BOUND`] of the rim; denominators are at least 1e-15.

use candle_core::{Result, Tensor};

use super::{Radial, dot, square};

/// Denominators are no less.
pub(crate) const LEAST: f64 = 1e-15;

fn radial(x: &Tensor, kappa: &Tensor, f: Radial) -> Result<Tensor> {
    x.broadcast_mul(&f.apply(&square(x)?.broadcast_mul(&kappa.neg()?)?)?)
}

/// The point that a tangent vector at the origin leads to.
pub fn exp0(v: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    radial(v, kappa, Radial::Tan)
}

/// The tangent vector at the origin that leads to a point.
pub fn log0(x: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    radial(x, kappa, Radial::ArcTan)
}

/// The Moebius sum `x + y` of rows, or of rows and one row.
pub fn add(x: &Tensor, y: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    let (xy, xx, yy) = (dot(x, y)?, square(x)?, square(y)?);
    let twice = xy.broadcast_mul(kappa)?.affine(-2.0, 1.0)?;
    let of_x = twice.broadcast_sub(&yy.broadcast_mul(kappa)?)?;
    let of_y = xx.broadcast_mul(kappa)?.affine(1.0, 1.0)?;
    let below = twice.broadcast_add(&xx.broadcast_mul(&yy)?.broadcast_mul(&kappa.sqr()?)?)?.maximum(LEAST)?;
    x.broadcast_mul(&of_x)?.broadcast_add(&y.broadcast_mul(&of_y)?)?.broadcast_div(&below)
}

/// `1 + kappa |x|^2`: twice the inverse of the conformal factor.
fn conformal(x: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    square(x)?.broadcast_mul(kappa)?.affine(1.0, 1.0)?.maximum(LEAST)
}

/// The point that a tangent vector at `x` leads to.
pub fn exp(x: &Tensor, v: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    // lambda / 2 = 1 / (1 + kappa |x|^2).
    add(x, &exp0(&v.broadcast_div(&conformal(x, kappa)?)?, kappa)?, kappa)
}

/// The tangent vector at `x` that leads to `y`.
pub fn log(x: &Tensor, y: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    log0(&add(&x.neg()?, y, kappa)?, kappa)?.broadcast_mul(&conformal(x, kappa)?)
}

/// A tangent vector at the origin transported to `x` along the geodesic.
pub fn transport0(x: &Tensor, v: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    v.broadcast_mul(&conformal(x, kappa)?)
}

/// The squared distance of rows, a column.
pub fn square_distance(x: &Tensor, y: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    let below = conformal(x, kappa)?.broadcast_mul(&conformal(y, kappa)?)?;
    of_chords(&square(&x.broadcast_sub(y)?)?.broadcast_div(&below)?, kappa)
}

/// The squared distances of rows x and rows p, a matrix with a column for each p.
pub fn square_distances(x: &Tensor, p: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    let below = conformal(x, kappa)?.broadcast_mul(&conformal(p, kappa)?.t()?)?;
    let products = (x.matmul(&p.t()?.contiguous()?)? * 2.0)?;
    let apart = square(x)?.broadcast_add(&square(p)?.t()?)?.sub(&products)?.relu()?;
    of_chords(&(apart / below)?, kappa)
}

/// `sin^2 (d / 2)` of the sphere is `kappa q`, and so on: `d^2 = 4 q (arcsin(t) / t)^2` with `t^2 = kappa q`.
fn of_chords(q: &Tensor, kappa: &Tensor) -> Result<Tensor> {
    let f = Radial::ArcSin.apply(&q.broadcast_mul(&kappa.neg()?)?)?;
    (q * f.sqr()?)? * 4.0
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, normal, scalar, values};
    use super::*;

    const CURVATURES: [f64; 7] = [-2.0, -1.0, -1e-4, 0.0, 1e-4, 0.5, 1.0];

    /// Points of which no two are near antipodes.
    fn points(kappa: &Tensor, seed: u64) -> Tensor {
        exp0(&normal(20, 3, 0.3, seed), kappa).unwrap()
    }

    #[test]
    fn logarithms_undo_exponentials_at_the_origin_and_elsewhere() {
        for kappa in CURVATURES.map(scalar) {
            let (x, v) = (points(&kappa, 1), normal(20, 3, 0.2, 2));
            close(&log0(&exp0(&v, &kappa).unwrap(), &kappa).unwrap(), &v, 1e-12);
            close(&log(&x, &exp(&x, &v, &kappa).unwrap(), &kappa).unwrap(), &v, 1e-11);
        }
    }

    #[test]
    fn distances_are_symmetric_and_unmoved_by_translation() {
        for kappa in CURVATURES.map(scalar) {
            let (x, y, z) = (points(&kappa, 1), points(&kappa, 2), points(&kappa, 3));
            let d = square_distance(&x, &y, &kappa).unwrap();
            close(&square_distance(&y, &x, &kappa).unwrap(), &d, 1e-12);
            let (x, y) = (add(&z, &x, &kappa).unwrap(), add(&z, &y, &kappa).unwrap());
            close(&square_distance(&x, &y, &kappa).unwrap(), &d, 1e-11);
        }
    }

    #[test]
    fn the_length_of_a_tangent_vector_is_the_distance_that_it_leads() {
        for kappa in CURVATURES.map(scalar) {
            let (x, v) = (points(&kappa, 1), normal(20, 3, 0.2, 2));
            let lambda = (conformal(&x, &kappa).unwrap().recip().unwrap() * 2.0).unwrap();
            let length = (square(&v).unwrap() * lambda.sqr().unwrap()).unwrap();
            close(&square_distance(&x, &exp(&x, &v, &kappa).unwrap(), &kappa).unwrap(), &length, 1e-11);
            // A transported vector is as long as before, where lambda = 2.
            let moved = transport0(&x, &v, &kappa).unwrap();
            let length = (square(&moved).unwrap() * lambda.sqr().unwrap()).unwrap();
            close(&length, &(square(&v).unwrap() * 4.0).unwrap(), 1e-12);
        }
    }

    #[test]
    fn distances_have_their_closed_forms_and_those_of_flat_space_in_the_limit() {
        let (x, y) = (normal(20, 3, 0.2, 1), normal(20, 3, 0.2, 2));
        let zero = x.zeros_like().unwrap();
        let along = values(&square_distance(&zero, &x, &scalar(-1.0)).unwrap());
        for (found, s) in along.iter().zip(values(&square(&x).unwrap())) {
            assert!((found - (2.0 * s.sqrt().atanh()).powi(2)).abs() < 1e-13);
        }
        // arcosh(1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2))) in the ball.
        let found = values(&square_distance(&x, &y, &scalar(-1.0)).unwrap());
        let apart = values(&square(&(&x - &y).unwrap()).unwrap());
        let (xx, yy) = (values(&square(&x).unwrap()), values(&square(&y).unwrap()));
        for i in 0..20 {
            let d = (1.0 + 2.0 * apart[i] / ((1.0 - xx[i]) * (1.0 - yy[i]))).acosh();
            assert!((found[i].sqrt() - d).abs() < 1e-12);
        }
        let flat = (square(&(&x - &y).unwrap()).unwrap() * 4.0).unwrap();
        close(&square_distance(&x, &y, &scalar(0.0)).unwrap(), &flat, 1e-13);
        let table = values(&square_distances(&x, &y, &scalar(-1.0)).unwrap());
        for (i, found) in found.iter().enumerate() {
            assert!((table[i * 20 + i] - found).abs() < 1e-12);
        }
        for kappa in [1e-7, -1e-7] {
            close(&square_distance(&x, &y, &scalar(kappa)).unwrap(), &flat, 1e-6);
        }
    }

    #[test]
    fn points_at_the_rim_and_at_one_place_have_finite_values_and_slopes() {
        for kappa in [-1.0, 0.0, 1.0] {
            for length in [0.0, 1e-20, 1e3] {
                let v = candle_core::Var::from_tensor(&normal(4, 3, length, 1)).unwrap();
                let kappa = candle_core::Var::from_tensor(&scalar(kappa)).unwrap();
                let x = exp0(&v, &kappa).unwrap();
                let d = square_distance(&x, &x, &kappa).unwrap();
                let far = square_distance(&x, &x.neg().unwrap(), &kappa).unwrap();
                let both = (d + (far * 1e-3).unwrap()).unwrap();
                assert!(values(&both).iter().all(|d| d.is_finite()), "{kappa} {length}");
                let gradient = both.backward().unwrap();
                for of in [v.as_tensor(), kappa.as_tensor()] {
                    assert!(values(gradient.get(of).unwrap()).iter().all(|g| g.is_finite()), "{kappa} {length}");
                }
            }
        }
    }
}
