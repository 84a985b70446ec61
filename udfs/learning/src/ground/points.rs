//! Parameters that are points: a step of an optimiser in their space.

use super::Radial;

/// The space of a parameter whose rows are points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PointSpace {
    /// The hyperboloid of curvature -c, by space coordinates. The Poincare ball is the same space: a model that reads
    /// coordinates of the ball maps them.
    Hyperboloid {
        /// The size of the curvature.
        c: f64,
    },
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl PointSpace {
    fn k(self) -> f64 {
        let Self::Hyperboloid { c } = self;
        1.0 / c
    }

    /// From a gradient by the coordinates to the Riemannian gradient, in place; returns its squared length. The inverse of
    /// the metric `I - x x' / x_0^2` of space coordinates is `I + x x' / K`.
    pub fn riemannian(self, x: &[f64], g: &mut [f64]) -> f64 {
        let along = dot(x, g);
        let length = dot(g, g) + along * along / self.k();
        g.iter_mut().zip(x).for_each(|(g, x)| *g += x * along / self.k());
        length
    }

    /// Moves a point along a tangent vector, and other tangent vectors with it by parallel transport.
    pub fn step(self, x: &mut [f64], v: &[f64], carried: &mut [f64]) {
        let k = self.k();
        let time = (k + dot(x, x)).sqrt();
        let s = ((dot(v, v) - (dot(x, v) / time).powi(2)) / k).max(0.0);
        let (cosh, sinh) = (Radial::Cos.value(s), Radial::Sin.value(s));
        let y: Vec<f64> = x.iter().zip(v).map(|(x, v)| cosh * x + sinh * v).collect();
        // m + <y, m> / (K - <x, y>) (x + y), with the times of all.
        let (time_y, time_m) = ((k + dot(&y, &y)).sqrt(), dot(x, carried) / time);
        let share = (dot(&y, carried) - time_y * time_m) / (k + time_y * time - dot(x, &y));
        carried.iter_mut().zip(x.iter().zip(&y)).for_each(|(m, (x, y))| *m += share * (x + y));
        x.copy_from_slice(&y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spaces::lorentz;
    use candle_core::{Device, Tensor};

    fn row(x: &[f64]) -> Tensor {
        Tensor::from_vec(x.to_vec(), (1, x.len()), &Device::Cpu).unwrap()
    }

    #[test]
    fn a_step_goes_as_far_as_its_vector_is_long_and_carried_vectors_keep_their_length() {
        let (c, start, v) = (0.5, [0.7, -1.2, 0.4], [0.3, 0.8, -0.5]);
        let (space, k) = (PointSpace::Hyperboloid { c }, row(&[1.0 / c]));
        let number = |x: &Tensor| x.flatten_all().unwrap().to_vec1::<f64>().unwrap()[0];
        let (mut x, mut carried) = (start, [0.1, -0.6, 0.9]);
        let before = number(&lorentz::square_length(&row(&x), &row(&carried), &k).unwrap());
        let length = number(&lorentz::square_length(&row(&x), &row(&v), &k).unwrap());
        space.step(&mut x, &v, &mut carried);
        let after = number(&lorentz::square_length(&row(&x), &row(&carried), &k).unwrap());
        assert!((before - after).abs() < 1e-12, "{before} {after}");
        let d = number(&lorentz::square_distance(&row(&start), &row(&x), &k).unwrap());
        assert!((d - length).abs() < 1e-12, "{d} {length}");
    }

    #[test]
    fn the_riemannian_gradient_is_the_steepest_way() {
        // Of the squared distance to a point: minus twice the logarithm.
        let (c, x, y) = (0.5, [0.7, -1.2, 0.4], [-0.3, 0.2, 0.9]);
        let (space, k) = (PointSpace::Hyperboloid { c }, row(&[1.0 / c]));
        let var = candle_core::Var::from_tensor(&row(&x)).unwrap();
        let d = lorentz::square_distance(&var, &row(&y), &k).unwrap();
        let store = d.backward().unwrap();
        let mut g: Vec<f64> = store.get(&var).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        let length = space.riemannian(&x, &mut g);
        let log: Vec<f64> = lorentz::log(&row(&x), &row(&y), &k).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        g.iter().zip(&log).for_each(|(g, log)| assert!((g + 2.0 * log).abs() < 1e-10, "{g} {log}"));
        let d = d.flatten_all().unwrap().to_vec1::<f64>().unwrap()[0];
        assert!((length - 4.0 * d).abs() < 1e-10);
    }
}
