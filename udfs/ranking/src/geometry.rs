//! Points in spaces of constant curvature, and their distances.

/// The space that points lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Flat space.
    Euclidean,
    /// The open ball of radius 1 / sqrt(c): hyperbolic space of curvature -c.
    Poincare,
    /// The upper sheet of the hyperboloid <x, x> = -1 / c, with the time coordinate first: curvature -c.
    Lorentz,
    /// The sphere of radius 1 / sqrt(c), with the length of arcs: curvature c.
    Spherical,
}

impl Metric {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("euclidean", Self::Euclidean),
        ("poincare", Self::Poincare),
        ("lorentz", Self::Lorentz),
        ("spherical", Self::Spherical),
    ];
}

/// How far a point may stand off its hyperboloid or sphere: what single precision and a long training leave.
const OFF: f64 = 1e-3;

/// Why a point lies in no such space.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct PointError {
    /// The number of the point.
    pub point: usize,
    text: String,
}

/// Points of one space.
#[derive(Debug, Clone)]
pub struct Points {
    metric: Metric,
    dimension: usize,
    coordinates: Vec<f64>,
    root: f64,
    /// 1 - c |x|^2 in the ball, unused elsewhere.
    conformal: Vec<f64>,
}

impl Points {
    /// Points with `dimension` coordinates each, one after the other, in a space of curvature of size `c`.
    ///
    /// Coordinates are trusted to about three digits to lie on the hyperboloid or the sphere, and are then put exactly on
    /// it: the time coordinate is computed from the others, the length is set.
    ///
    /// # Errors
    /// If a coordinate is not finite, or a point lies outside of the ball or off the hyperboloid or the sphere.
    ///
    /// # Panics
    /// If `coordinates` is no whole number of points.
    pub fn new(metric: Metric, c: f64, dimension: usize, mut coordinates: Vec<f64>) -> Result<Self, PointError> {
        assert_eq!(coordinates.len().checked_rem(dimension).unwrap_or(coordinates.len()), 0);
        let mut conformal = Vec::new();
        for (point, x) in coordinates.chunks_exact_mut(dimension.max(1)).enumerate() {
            let refuse = |text: String| Err(PointError { point, text });
            if let Some(bad) = x.iter().find(|x| !x.is_finite()) {
                return refuse(format!("a coordinate is {bad}"));
            }
            let square: f64 = x.iter().map(|x| x * x).sum();
            match metric {
                Metric::Euclidean => {}
                Metric::Poincare => {
                    let factor = 1.0 - c * square;
                    if factor <= 0.0 {
                        let (length, radius) = (square.sqrt(), 1.0 / c.sqrt());
                        return refuse(format!("its length {length} reaches the ball's radius {radius}"));
                    }
                    conformal.push(factor);
                }
                Metric::Lorentz => {
                    let space: f64 = x[1..].iter().map(|x| x * x).sum();
                    let time = (1.0 / c + space).sqrt();
                    if (x[0] - time).abs() > OFF * time {
                        return refuse(format!("its first coordinate is {}, on the hyperboloid it is {time}", x[0]));
                    }
                    x[0] = time;
                }
                Metric::Spherical => {
                    let (length, radius) = (square.sqrt(), 1.0 / c.sqrt());
                    if (length - radius).abs() > OFF * radius {
                        return refuse(format!("its length is {length}, the sphere's radius {radius}"));
                    }
                    x.iter_mut().for_each(|x| *x *= radius / length);
                }
            }
        }
        Ok(Self { metric, dimension, coordinates, root: c.sqrt(), conformal })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.coordinates.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn point(&self, i: usize) -> &[f64] {
        &self.coordinates[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The distance of two points. Forms that keep their digits for points close together: no arc cosine.
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        let (x, y) = (self.point(i), self.point(j));
        let apart = || x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        match self.metric {
            Metric::Euclidean => apart().sqrt(),
            Metric::Poincare => {
                let factor = (self.conformal[i] * self.conformal[j]).sqrt();
                2.0 / self.root * (self.root * apart().sqrt() / factor).asinh()
            }
            Metric::Lorentz => {
                let time = x[0] - y[0];
                // <x - y, x - y> = |space|^2 - time^2 = 4 / c sinh^2(d sqrt(c) / 2).
                let square = (apart() - 2.0 * time * time).max(0.0);
                2.0 / self.root * (self.root * square.sqrt() / 2.0).asinh()
            }
            Metric::Spherical => {
                let sum = x.iter().zip(y).map(|(x, y)| (x + y) * (x + y)).sum::<f64>();
                2.0 / self.root * apart().sqrt().atan2(sum.sqrt())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn distance(metric: Metric, c: f64, dimension: usize, coordinates: &[f64]) -> f64 {
        Points::new(metric, c, dimension, coordinates.to_vec()).unwrap().distance(0, 1)
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} {expected}");
    }

    #[test]
    fn distances_have_their_closed_forms() {
        close(distance(Metric::Euclidean, 1.0, 2, &[0.0, 0.0, 3.0, 4.0]), 5.0);
        // From the centre of the ball: 2 artanh(sqrt(c) r) / sqrt(c).
        close(distance(Metric::Poincare, 1.0, 2, &[0.0, 0.0, 0.6, 0.0]), 2.0 * 0.6_f64.atanh());
        close(distance(Metric::Poincare, 4.0, 1, &[0.0, 0.2]), 0.4_f64.atanh());
        // Along a geodesic of the hyperboloid.
        let at = |t: f64| [t.cosh() / 2.0, t.sinh() / 2.0];
        close(distance(Metric::Lorentz, 4.0, 2, &[at(-0.7), at(1.9)].concat()), 2.6 / 2.0);
        // A quarter and a half of a great circle of radius 2.
        close(distance(Metric::Spherical, 0.25, 2, &[2.0, 0.0, 0.0, 2.0]), PI);
        close(distance(Metric::Spherical, 0.25, 2, &[2.0, 0.0, -2.0, 0.0]), 2.0 * PI);
    }

    #[test]
    fn the_ball_and_the_hyperboloid_are_one_space() {
        // x in the ball is ((1 + r^2), 2 x) / (1 - r^2) on the hyperboloid.
        let lift = |x: [f64; 2]| {
            let square = x[0] * x[0] + x[1] * x[1];
            [(1.0 + square) / (1.0 - square), 2.0 * x[0] / (1.0 - square), 2.0 * x[1] / (1.0 - square)]
        };
        for (x, y) in [([0.3, -0.5], [-0.7, 0.1]), ([0.0, 0.9], [0.05, 0.9]), ([0.1, 0.1], [0.1, 0.100_001])] {
            let ball = distance(Metric::Poincare, 1.0, 2, &[x, y].concat());
            let sheet = distance(Metric::Lorentz, 1.0, 3, &[lift(x), lift(y)].concat());
            assert!((ball - sheet).abs() < 1e-10 * ball.max(1e-3), "{ball} {sheet}");
        }
    }

    #[test]
    fn points_outside_of_their_space_are_refused() {
        let refused = |metric, x: &[f64]| Points::new(metric, 1.0, x.len(), x.to_vec()).unwrap_err().to_string();
        assert!(refused(Metric::Poincare, &[0.8, 0.6]).contains("ball's radius 1"));
        assert!(refused(Metric::Lorentz, &[1.0, 1.0]).contains("on the hyperboloid it is 1.414"));
        assert!(refused(Metric::Lorentz, &[-1.0, 0.0]).contains("on the hyperboloid it is 1"));
        assert!(refused(Metric::Spherical, &[0.0, 0.0]).contains("its length is 0"));
        assert!(refused(Metric::Euclidean, &[f64::NAN]).contains("NaN"));
        assert!(Points::new(Metric::Euclidean, 1.0, 0, vec![]).unwrap().is_empty());
    }
}
