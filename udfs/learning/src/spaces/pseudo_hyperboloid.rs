//! The pseudo-hyperboloid `-|x_t|^2 + |x_s|^2 = -b` with t + 1 coordinates of time and s of space (Xiong et al. 2022,
//! Pseudo-Riemannian graph convolutional networks).
//!
//! It is `S^t x R^s` by `x -> (sqrt(b) x_t / |x_t|, x_s)`, whose exponential and logarithm join all points. A point is stored
//! by its normal coordinates there: t of the sphere of radius `sqrt(b)`, at the origin `(sqrt(b), 0, ...)`, then s.

use candle_core::{D, Result, Tensor};

use super::{Radial, dot, square, stereographic};

/// The coordinates of points, time first: t + 1, then s. `b` is the size of the curvature.
pub fn points(v: &Tensor, time: usize, b: &Tensor) -> Result<Tensor> {
    let (a, x_s) = split(v, time)?;
    // The direction on the unit sphere, stretched to sqrt(b + |x_s|^2).
    let s = square(&a)?.broadcast_div(b)?.neg()?;
    let first = Radial::Cos.apply(&s)?;
    let rest = a.broadcast_mul(&Radial::Sin.apply(&s)?)?.broadcast_div(&b.sqrt()?)?;
    let length = square(&x_s)?.broadcast_add(b)?.sqrt()?;
    Tensor::cat(&[first.broadcast_mul(&length)?, rest.broadcast_mul(&length)?, x_s], D::Minus1)
}

fn split(v: &Tensor, time: usize) -> Result<(Tensor, Tensor)> {
    let width = v.dim(D::Minus1)?;
    Ok((v.narrow(D::Minus1, 0, time)?.contiguous()?, v.narrow(D::Minus1, time, width - time)?.contiguous()?))
}

/// A bias: from each point on along a tangent vector at the origin that is transported there. Normal coordinates in and
/// out; at most [`super::radial::TAN_BOUND`] of a quarter turn of the sphere is read.
pub fn translate(v: &Tensor, bias: &Tensor, time: usize, b: &Tensor) -> Result<Tensor> {
    if time == 0 {
        return v.broadcast_add(bias);
    }
    let ((a, x_s), (bias_t, bias_s)) = (split(v, time)?, split(bias, time)?);
    // The sphere in stereographic coordinates, whose tangent vectors at the origin are half as long.
    let kappa = b.recip()?;
    let half = |v: &Tensor| stereographic::exp0(&(v * 0.5)?, &kappa);
    let a = (stereographic::log0(&stereographic::add(&half(&a)?, &half(&bias_t)?, &kappa)?, &kappa)? * 2.0)?;
    if time == v.dim(D::Minus1)? {
        return Ok(a);
    }
    Tensor::cat(&[a, x_s.broadcast_add(&bias_s)?], D::Minus1)
}

/// The squared distance of points in normal coordinates, a column: along the geodesic where there is one, else by way of
/// the antipode.
pub fn square_distance(x: &Tensor, y: &Tensor, time: usize, b: &Tensor) -> Result<Tensor> {
    let (x, y) = (points(x, time, b)?, points(y, time, b)?);
    // 1 - <x, y> / -b = <x - y, x - y> / 2b, which keeps the digits of points close together.
    let difference = (x - y)?;
    let width = difference.dim(D::Minus1)?;
    let of_time = square(&difference.narrow(D::Minus1, 0, time + 1)?.contiguous()?)?;
    let of_space = match width - time - 1 {
        0 => of_time.zeros_like()?,
        space => square(&difference.narrow(D::Minus1, time + 1, space)?.contiguous()?)?,
    };
    let s = ((of_time - of_space)? * 0.5)?.broadcast_div(b)?;
    Radial::PseudoSquare.apply(&s)?.broadcast_mul(b)
}

/// `-<x_t, y_t> + <x_s, y_s>` of the coordinates of points, a column.
pub fn inner(x: &Tensor, y: &Tensor, time: usize) -> Result<Tensor> {
    let width = x.dim(D::Minus1)?;
    let part = |x: &Tensor, from: usize, len: usize| x.narrow(D::Minus1, from, len)?.contiguous();
    let of_time = dot(&part(x, 0, time + 1)?, &part(y, 0, time + 1)?)?;
    match width - time - 1 {
        0 => of_time.neg(),
        space => dot(&part(x, time + 1, space)?, &part(y, time + 1, space)?)? - of_time,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lorentz;
    use super::super::tests::{close, normal, scalar, values};
    use super::*;

    #[test]
    fn points_lie_on_the_manifold() {
        for (time, b) in [(0, 1.0), (2, 0.5), (3, 2.0), (5, 1.0)] {
            let x = points(&normal(20, 5, 0.7, 1), time, &scalar(b)).unwrap();
            let inner = values(&inner(&x, &x, time).unwrap());
            assert!(inner.iter().all(|found| (found + b).abs() < 1e-12), "{time}: {inner:?}");
        }
    }

    #[test]
    fn without_time_it_is_the_hyperboloid() {
        for b in [0.3, 1.0, 4.0] {
            let (x, y) = (normal(20, 5, 0.7, 1), normal(20, 5, 0.7, 2));
            let expected = lorentz::square_distance(&x, &y, &scalar(b)).unwrap();
            close(&square_distance(&x, &y, 0, &scalar(b)).unwrap(), &expected, 1e-9);
        }
    }

    #[test]
    fn without_space_it_is_the_sphere() {
        for b in [0.3, 1.0, 4.0] {
            let (x, y) = (normal(20, 5, 0.3, 1), normal(20, 5, 0.3, 2));
            let (p, q) = (points(&x, 5, &scalar(b)).unwrap(), points(&y, 5, &scalar(b)).unwrap());
            let found = values(&square_distance(&x, &y, 5, &scalar(b)).unwrap());
            for (found, cosine) in found.iter().zip(values(&dot(&p, &q).unwrap())) {
                assert!((found - b * (cosine / b).acos().powi(2)).abs() < 1e-10);
            }
            // The stereographic sphere is the same one.
            let half = |v: &Tensor| stereographic::exp0(&(v * 0.5).unwrap(), &scalar(1.0 / b)).unwrap();
            let expected = stereographic::square_distance(&half(&x), &half(&y), &scalar(1.0 / b)).unwrap();
            close(&square_distance(&x, &y, 5, &scalar(b)).unwrap(), &expected, 1e-9);
        }
    }

    #[test]
    fn distances_are_symmetric_and_a_bias_goes_as_far_as_it_is_long() {
        for time in 0..=5 {
            let b = scalar(0.8);
            let (x, y) = (normal(20, 5, 0.5, 1), normal(20, 5, 0.5, 2));
            let d = square_distance(&x, &y, time, &b).unwrap();
            close(&square_distance(&y, &x, time, &b).unwrap(), &d, 1e-12);
            assert!(values(&square_distance(&x, &x, time, &b).unwrap()).iter().all(|d| *d == 0.0));
            // On the sphere alone: the arc is as long as the vector.
            let bias = normal(1, 5, 0.2, 3);
            let only_time = bias.narrow(1, 0, time).unwrap();
            let bias =
                Tensor::cat(&[only_time, bias.narrow(1, time, 5 - time).unwrap().zeros_like().unwrap()], 1).unwrap();
            let on_sphere = x.narrow(1, 0, time).unwrap();
            let x = Tensor::cat(&[on_sphere, x.narrow(1, time, 5 - time).unwrap().zeros_like().unwrap()], 1).unwrap();
            let moved = translate(&x, &bias, time, &b).unwrap();
            let length = values(&square(&bias).unwrap())[0];
            for d in values(&square_distance(&x, &moved, time, &b).unwrap()) {
                assert!((d - length).abs() < 1e-10, "{time}: {d} for {length}");
            }
        }
    }

    #[test]
    fn beyond_the_antipode_the_way_leads_through_it() {
        // <x, y> / -b <= -1: no geodesic; pi sqrt(b) + the distance of x and -y.
        let at = |angle: f64, v: f64| Tensor::from_vec(vec![angle, v], (1, 2), &candle_core::Device::Cpu).unwrap();
        let (x, y) = (at(0.0, 0.9), at(std::f64::consts::PI, 1.7));
        let found = values(&square_distance(&x, &y, 1, &scalar(1.0)).unwrap())[0].sqrt();
        let z = -((1.0f64 + 0.81).sqrt() * (1.0f64 + 2.89).sqrt()) - 0.9 * 1.7;
        assert!((found - (std::f64::consts::PI + (-z).acosh())).abs() < 1e-12);
    }
}
