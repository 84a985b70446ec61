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
    /// The pseudo-hyperboloid `<x, x> = -|x_t|^2 + |x_s|^2 = -1 / c` with so many coordinates of time, which come first:
    /// the length of geodesics and, where none joins two points, pi / sqrt(c) and the distance to the antipode (Xiong et al.
    /// 2022, Eq. 9).
    PseudoHyperboloid(usize),
}

impl Metric {
    /// The metrics that a name tells, with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("euclidean", Self::Euclidean),
        ("poincare", Self::Poincare),
        ("lorentz", Self::Lorentz),
        ("spherical", Self::Spherical),
    ];
}

/// A space of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// The kind of the factor.
    pub metric: Metric,
    /// The size of its curvature; not read in flat space.
    pub c: f64,
    /// The coordinates of a point.
    pub dimension: usize,
}

/// Why a string names no space.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{factor}` in the metric: {why}")]
pub struct MetricError {
    factor: String,
    why: String,
}

/// The factors that a string such as `lorentz(9, -0.5) x euclidean(4) x pseudo_hyperboloid(2, 3, -1)` names: coordinates,
/// then the curvature with its sign; those of a pseudo-hyperboloid are of time and of space.
///
/// # Errors
/// If a factor is none, or has a curvature of the other sign.
pub fn factors(text: &str) -> Result<Vec<Factor>, MetricError> {
    text.split(" x ").map(|factor| one_factor(factor.trim())).collect()
}

fn one_factor(text: &str) -> Result<Factor, MetricError> {
    let refuse = |why: &str| Err(MetricError { factor: text.to_owned(), why: why.to_owned() });
    let forms = "expected euclidean(n), poincare(n, c), lorentz(n, c), spherical(n, c) or pseudo_hyperboloid(t, s, c)";
    let Some((name, rest)) = text.split_once('(') else { return refuse(forms) };
    let Some(rest) = rest.strip_suffix(')') else { return refuse(forms) };
    let numbers: Vec<&str> = rest.split(',').map(str::trim).collect();
    let count = |text: &str| text.parse::<usize>().ok().filter(|n| *n <= 1 << 20);
    let (metric, dimension, curvature) = match (name.trim(), &numbers[..]) {
        ("euclidean", [n]) => (Metric::Euclidean, count(n), "0"),
        ("poincare", [n, c]) => (Metric::Poincare, count(n), *c),
        ("lorentz", [n, c]) => (Metric::Lorentz, count(n), *c),
        ("spherical", [n, c]) => (Metric::Spherical, count(n), *c),
        ("pseudo_hyperboloid", [t, s, c]) => {
            let Some(time) = count(t).filter(|t| *t > 0) else {
                return refuse("it has at least one coordinate of time");
            };
            (Metric::PseudoHyperboloid(time), count(s).map(|s| s + time), *c)
        }
        _ => return refuse(forms),
    };
    let Some(dimension) = dimension.filter(|n| *n > 0) else { return refuse("it has a whole number of coordinates") };
    let Some(curvature) = curvature.parse::<f64>().ok().filter(|c| c.is_finite()) else {
        return refuse("its curvature is a number");
    };
    match metric {
        Metric::Euclidean => {}
        Metric::Spherical if curvature <= 0.0 => return refuse("the curvature of a sphere is above 0"),
        Metric::Spherical => {}
        _ if curvature >= 0.0 => return refuse("its curvature is below 0"),
        _ => {}
    }
    Ok(Factor { metric, c: curvature.abs(), dimension })
}

/// The tolerance for a point off its hyperboloid or sphere, after a long training in single precision.
const OFF: f64 = 1e-3;

/// Why a point lies in no such space.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct PointError {
    /// The number of the point.
    pub point: usize,
    text: String,
}

/// Points of a space, or of a product of spaces.
#[derive(Debug, Clone)]
pub struct Points {
    dimension: usize,
    coordinates: Vec<f64>,
    factors: Vec<Factor>,
    /// For each point and factor 1 - c |x|^2 in the ball, unused elsewhere; empty without balls.
    conformal: Vec<f64>,
}

impl Points {
    /// Points with `dimension` coordinates each, one after the other, in a space of curvature of size `c`: see
    /// [`Points::product`].
    ///
    /// # Errors
    /// Where [`Points::product`] does.
    ///
    /// # Panics
    /// Where [`Points::product`] does.
    pub fn new(metric: Metric, c: f64, dimension: usize, coordinates: Vec<f64>) -> Result<Self, PointError> {
        Self::product(vec![Factor { metric, c, dimension }], coordinates)
    }

    /// Points of a product of spaces, the coordinates of the factors side by side.
    ///
    /// Coordinates are trusted to about three digits to lie on the hyperboloid or the sphere, and are then put exactly on
    /// it: the time coordinate is computed from the others, the length is set.
    ///
    /// # Errors
    /// If a coordinate is not finite, or a point lies outside of the ball or off the hyperboloid or the sphere.
    ///
    /// # Panics
    /// If `coordinates` is no whole number of points.
    pub fn product(factors: Vec<Factor>, mut coordinates: Vec<f64>) -> Result<Self, PointError> {
        let dimension: usize = factors.iter().map(|factor| factor.dimension).sum();
        assert_eq!(coordinates.len().checked_rem(dimension).unwrap_or(coordinates.len()), 0);
        let balls = factors.iter().any(|factor| factor.metric == Metric::Poincare);
        let mut conformal = Vec::new();
        for (point, x) in coordinates.chunks_exact_mut(dimension.max(1)).enumerate() {
            let mut rest = x;
            for factor in &factors {
                let (x, after) = rest.split_at_mut(factor.dimension);
                rest = after;
                let of_ball = factor.place(x).map_err(|text| PointError { point, text })?;
                if balls {
                    conformal.push(of_ball);
                }
            }
        }
        Ok(Self { dimension, coordinates, factors, conformal })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.coordinates.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distance of two points: the root of the sum of the factors' squares. Forms that keep their digits for points
    /// close together: no arc cosine.
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        let (mut x, mut y) = (
            &self.coordinates[i * self.dimension..][..self.dimension],
            &self.coordinates[j * self.dimension..][..self.dimension],
        );
        let (mut sum, mut only) = (0.0, 0.0);
        for (number, factor) in self.factors.iter().enumerate() {
            let balls = match self.conformal.is_empty() {
                true => 1.0,
                false => {
                    let of = |point: usize| self.conformal[point * self.factors.len() + number];
                    of(i) * of(j)
                }
            };
            only = factor.distance(&x[..factor.dimension], &y[..factor.dimension], balls);
            sum += only * only;
            (x, y) = (&x[factor.dimension..], &y[factor.dimension..]);
        }
        if self.factors.len() == 1 { only } else { sum.sqrt() }
    }
}

impl Factor {
    /// Puts a point exactly on its space; gives `1 - c |x|^2` of the ball.
    fn place(&self, x: &mut [f64]) -> Result<f64, String> {
        let c = self.c;
        if let Some(bad) = x.iter().find(|x| !x.is_finite()) {
            return Err(format!("a coordinate is {bad}"));
        }
        let square: f64 = x.iter().map(|x| x * x).sum();
        match self.metric {
            Metric::Euclidean => {}
            Metric::Poincare => {
                let factor = 1.0 - c * square;
                if factor <= 0.0 {
                    let (length, radius) = (square.sqrt(), 1.0 / c.sqrt());
                    return Err(format!("its length {length} reaches the ball's radius {radius}"));
                }
                return Ok(factor);
            }
            Metric::Lorentz => {
                let space: f64 = x[1..].iter().map(|x| x * x).sum();
                let time = (1.0 / c + space).sqrt();
                if (x[0] - time).abs() > OFF * time {
                    return Err(format!("its first coordinate is {}, on the hyperboloid it is {time}", x[0]));
                }
                x[0] = time;
            }
            Metric::Spherical => {
                let (length, radius) = (square.sqrt(), 1.0 / c.sqrt());
                if (length - radius).abs() > OFF * radius {
                    return Err(format!("its length is {length}, the sphere's radius {radius}"));
                }
                x.iter_mut().for_each(|x| *x *= radius / length);
            }
            Metric::PseudoHyperboloid(time) => {
                let (x_t, x_s) = x.split_at_mut(time);
                let length = x_t.iter().map(|x| x * x).sum::<f64>().sqrt();
                let expected = (1.0 / c + x_s.iter().map(|x| x * x).sum::<f64>()).sqrt();
                if (length - expected).abs() > OFF * expected {
                    return Err(format!(
                        "its time has the length {length}, on the pseudo-hyperboloid it is {expected}"
                    ));
                }
                x_t.iter_mut().for_each(|x| *x *= expected / length);
            }
        }
        Ok(1.0)
    }

    /// The distance of two points; `balls` is the product of what [`Factor::place`] gave.
    fn distance(&self, x: &[f64], y: &[f64], balls: f64) -> f64 {
        let root = self.c.sqrt();
        let apart = || x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        match self.metric {
            Metric::Euclidean => apart().sqrt(),
            Metric::Poincare => 2.0 / root * (root * apart().sqrt() / balls.sqrt()).asinh(),
            Metric::Lorentz => {
                let time = x[0] - y[0];
                // <x - y, x - y> = |space|^2 - time^2 = 4 / c sinh^2(d sqrt(c) / 2).
                let square = (apart() - 2.0 * time * time).max(0.0);
                2.0 / root * (root * square.sqrt() / 2.0).asinh()
            }
            Metric::Spherical => {
                let sum = x.iter().zip(y).map(|(x, y)| (x + y) * (x + y)).sum::<f64>();
                2.0 / root * apart().sqrt().atan2(sum.sqrt())
            }
            Metric::PseudoHyperboloid(time) => {
                // q = -c <x - y, x - y> is 2 (1 - z) of z = -c <x, y>: 4 sin^2(d / 2), or -4 sinh^2(d / 2).
                let of_time = x[..time].iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let q = self.c * (2.0 * of_time - apart());
                match q {
                    q if q < 0.0 => 2.0 * ((-q).sqrt() / 2.0).asinh() / root,
                    q if q < 4.0 => 2.0 * (q.sqrt() / 2.0).asin() / root,
                    q => (std::f64::consts::PI + (q / 2.0 - 1.0).acosh()) / root,
                }
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
    fn a_product_adds_the_squares_of_its_factors() {
        let product = factors("lorentz(2, -4) x euclidean(2) x poincare(1, -4)").unwrap();
        let at = |t: f64| [t.cosh() / 2.0, t.sinh() / 2.0];
        let rows = [&at(-0.7)[..], &[0.0, 0.0, 0.0], &at(1.9), &[3.0, 4.0, 0.2]].concat();
        let points = Points::product(product, rows).unwrap();
        assert_eq!(points.len(), 2);
        close(points.distance(0, 1), (1.3f64 * 1.3 + 25.0 + 0.4f64.atanh().powi(2)).sqrt());
        close(points.distance(1, 1), 0.0);
    }

    #[test]
    fn a_pseudo_hyperboloid_joins_its_points_by_three_kinds_of_ways() {
        let of = |text: &str, x: &[f64], y: &[f64]| {
            Points::product(factors(text).unwrap(), [x, y].concat()).unwrap().distance(0, 1)
        };
        // One coordinate of time: the hyperboloid. No coordinate of space: the sphere.
        let at = |t: f64| [t.cosh() / 2.0, t.sinh() / 2.0];
        close(of("pseudo_hyperboloid(1, 1, -4)", &at(-0.7), &at(1.9)), 1.3);
        close(of("pseudo_hyperboloid(2, 0, -0.25)", &[2.0, 0.0], &[0.0, 2.0]), PI);
        // No geodesic: through the antipode.
        let (x, y) = ([2f64.sqrt(), 0.0, 1.0], [-(5f64.sqrt()), 0.0, 2.0]);
        close(of("pseudo_hyperboloid(2, 1, -1)", &x, &y), PI + (10f64.sqrt() + 2.0).acosh());
        close(of("pseudo_hyperboloid(2, 1, -1)", &x, &x), 0.0);
        let refused =
            Points::product(factors("pseudo_hyperboloid(2, 1, -1)").unwrap(), vec![1.0, 0.0, 1.0]).unwrap_err();
        assert!(refused.to_string().contains("on the pseudo-hyperboloid it is 1.414"), "{refused}");
    }

    #[test]
    fn texts_that_name_no_space_are_refused_with_the_factor() {
        for (text, why) in [
            ("lorentz(3, 1)", "below 0"),
            ("euclidean(2) x spherical(3, -1)", "above 0"),
            ("poincare(2, NaN)", "is a number"),
            ("lorentz(3)", "expected euclidean(n)"),
            ("torus(3, 1)", "expected euclidean(n)"),
            ("pseudo_hyperboloid(0, 3, -1)", "at least one"),
            ("euclidean(0)", "whole number"),
        ] {
            let error = factors(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
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
