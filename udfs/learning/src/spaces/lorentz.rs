//! The hyperboloid `-x_0^2 + x_1^2 + ... = -K` of curvature -1/K, a point by its space coordinates `(x_1, ...)`; the time
//! `x_0 = sqrt(K + |x|^2)` follows. A tangent vector is given by its space coordinates, too: the time is `<x, v> / x_0`.

use candle_core::{Result, Tensor};

use super::{Radial, dot, square};

/// The time coordinate of points, a column.
pub fn time(x: &Tensor, k: &Tensor) -> Result<Tensor> {
    square(x)?.broadcast_add(k)?.sqrt()
}

/// The point that a tangent vector at the origin leads to.
pub fn exp0(v: &Tensor, k: &Tensor) -> Result<Tensor> {
    v.broadcast_mul(&Radial::Sin.apply(&square(v)?.broadcast_div(k)?)?)
}

/// The tangent vector at the origin that leads to a point.
pub fn log0(x: &Tensor, k: &Tensor) -> Result<Tensor> {
    x.broadcast_mul(&Radial::ArcSin.apply(&square(x)?.broadcast_div(k)?)?)
}

/// `<v, v>` of tangent vectors at `x`, a column.
pub fn square_length(x: &Tensor, v: &Tensor, k: &Tensor) -> Result<Tensor> {
    square(v)? - dot(x, v)?.broadcast_div(&time(x, k)?)?.sqr()?
}

/// The point that a tangent vector at `x` leads to.
pub fn exp(x: &Tensor, v: &Tensor, k: &Tensor) -> Result<Tensor> {
    let s = square_length(x, v, k)?.broadcast_div(k)?;
    x.broadcast_mul(&Radial::Cos.apply(&s)?)? + v.broadcast_mul(&Radial::Sin.apply(&s)?)?
}

/// `-<x, y> / K - 1` without its cancellation, a column.
fn separation(x: &Tensor, y: &Tensor, k: &Tensor) -> Result<Tensor> {
    square_chord(x, y, k)?.broadcast_div(k)? * 0.5
}

/// `<x - y, x - y>`, a column.
fn square_chord(x: &Tensor, y: &Tensor, k: &Tensor) -> Result<Tensor> {
    let difference = x.broadcast_sub(y)?;
    // The difference of the times by that of their squares.
    let sum = time(x, k)?.broadcast_add(&time(y, k)?)?;
    let times = dot(&difference, &x.broadcast_add(y)?)?.broadcast_div(&sum)?;
    (square(&difference)? - times.sqr()?)?.relu()
}

/// The tangent vector at `x` that leads to `y`.
pub fn log(x: &Tensor, y: &Tensor, k: &Tensor) -> Result<Tensor> {
    let w = separation(x, y, k)?;
    let u = (y.broadcast_sub(x)? - x.broadcast_mul(&w)?)?;
    u.broadcast_mul(&Radial::ArcSin.apply(&((&w + 2.0)? * &w)?)?)
}

/// A tangent vector at the origin transported to `x` along the geodesic.
pub fn transport0(x: &Tensor, v: &Tensor, k: &Tensor) -> Result<Tensor> {
    let root = k.sqrt()?;
    let below = time(x, k)?.broadcast_mul(&root)?.broadcast_add(k)?;
    let share = dot(x, v)?.broadcast_div(&below)?;
    x.broadcast_mul(&share)?.broadcast_add(v)
}

/// The squared distance of rows, a column.
pub fn square_distance(x: &Tensor, y: &Tensor, k: &Tensor) -> Result<Tensor> {
    // 4 K arsinh^2(sqrt(q) / 2) with q = <x - y, x - y> / K.
    let chord = square_chord(x, y, k)?;
    let f = Radial::ArcSin.apply(&(chord.broadcast_div(k)? * 0.25)?)?;
    chord * f.sqr()?
}

#[cfg(test)]
mod tests {
    use super::super::stereographic;
    use super::super::tests::{close, normal, scalar, values};
    use super::*;

    #[test]
    fn logarithms_undo_exponentials_at_the_origin_and_elsewhere() {
        for k in [0.3, 1.0, 4.0].map(scalar) {
            let (v, u) = (normal(20, 3, 1.0, 1), normal(20, 3, 0.5, 2));
            let x = exp0(&v, &k).unwrap();
            close(&log0(&x, &k).unwrap(), &v, 1e-13);
            close(&log(&x, &exp(&x, &u, &k).unwrap(), &k).unwrap(), &u, 1e-9);
        }
    }

    #[test]
    fn it_is_the_ball_in_other_coordinates() {
        for c in [0.3, 1.0, 4.0] {
            let (k, kappa) = (scalar(1.0 / c), scalar(-c));
            let (v, u) = (normal(20, 3, 0.5, 1), normal(20, 3, 0.5, 2));
            let half = |v: &Tensor| (v * 0.5).unwrap();
            let (x, y) = (exp0(&v, &k).unwrap(), exp0(&u, &k).unwrap());
            let of_ball = |v: &Tensor| stereographic::exp0(&half(v), &kappa).unwrap();
            let expected = stereographic::square_distance(&of_ball(&v), &of_ball(&u), &kappa).unwrap();
            close(&square_distance(&x, &y, &k).unwrap(), &expected, 1e-10);
            // A transported vector and its exponential.
            let moved = exp(&x, &transport0(&x, &u, &k).unwrap(), &k).unwrap();
            let sum = stereographic::add(&of_ball(&v), &of_ball(&u), &kappa).unwrap();
            let back = (stereographic::log0(&sum, &kappa).unwrap() * 2.0).unwrap();
            close(&log0(&moved, &k).unwrap(), &back, 1e-9);
        }
    }

    #[test]
    fn distances_are_symmetric_and_unmoved_by_boosts() {
        let k = scalar(1.0);
        let (x, y) = (exp0(&normal(20, 3, 1.0, 1), &k).unwrap(), exp0(&normal(20, 3, 1.0, 2), &k).unwrap());
        let d = square_distance(&x, &y, &k).unwrap();
        close(&square_distance(&y, &x, &k).unwrap(), &d, 1e-12);
        let boost = |x: &Tensor| {
            let (rapidity, time) = (0.8f64, time(x, &k).unwrap());
            let first = x.narrow(1, 0, 1).unwrap();
            let moved = ((first * rapidity.cosh()).unwrap() + (time * rapidity.sinh()).unwrap()).unwrap();
            Tensor::cat(&[moved, x.narrow(1, 1, 2).unwrap()], 1).unwrap()
        };
        close(&square_distance(&boost(&x), &boost(&y), &k).unwrap(), &d, 1e-10);
    }

    #[test]
    fn distances_along_a_geodesic_and_of_one_point() {
        for k in [0.25, 1.0] {
            let root = f64::sqrt(k);
            let at = |t: f64| Tensor::from_vec(vec![root * (t / root).sinh(), 0.0], (1, 2), &candle_core::Device::Cpu);
            let d = square_distance(&at(-0.7).unwrap(), &at(1.9).unwrap(), &scalar(k)).unwrap();
            assert!((values(&d)[0] - 2.6 * 2.6).abs() < 1e-11);
            let x = candle_core::Var::from_tensor(&at(3.0).unwrap()).unwrap();
            let d = square_distance(&x, &x, &scalar(k)).unwrap();
            assert_eq!(values(&d), [0.0]);
            assert!(values(d.backward().unwrap().get(&x).unwrap()).iter().all(|g| g.is_finite()));
        }
    }
}
