//! Squared distances of two rows of a [`Space`] with their gradient written out, in plain numbers: the quick form of
//! [`Space::square_distance`].

use super::{Factor, Geometry, Radial, Space, inner, stereographic};

/// A point of a factor from the numbers that store it.
#[derive(Debug, Default)]
struct Point {
    /// The coordinates of the point.
    x: Vec<f64>,
    /// The gradient by these.
    d_x: Vec<f64>,
    /// The argument of the radial function that led here, its value and slope.
    radial: [f64; 3],
}

/// The buffers of a distance, reused from pair to pair.
#[derive(Debug, Default)]
pub struct Scratch {
    points: [Point; 2],
    squares: Vec<f64>,
    shares: Vec<f64>,
    by_curvature: Vec<f64>,
    gradients: [Vec<f64>; 2],
}

impl Space {
    /// The squared distance of two rows. O(columns).
    pub fn square(&self, x: &[f64], y: &[f64], scratch: &mut Scratch) -> f64 {
        self.parts(x, y, scratch, None);
        self.total(x, y, scratch)
    }

    /// The squared distance, with `slope` of it times its gradient added to `d_x` and `d_y`. O(columns).
    pub fn square_gradient(
        &self,
        [x, y]: [&[f64]; 2],
        scratch: &mut Scratch,
        slope: impl FnOnce(f64) -> f64,
        [d_x, d_y]: [&mut [f64]; 2],
    ) -> f64 {
        let mut gradients = std::mem::take(&mut scratch.gradients);
        gradients.iter_mut().for_each(|gradient| {
            gradient.clear();
            gradient.resize(self.dimension(), 0.0);
        });
        self.parts(x, y, scratch, Some(&mut gradients));
        let square = self.total(x, y, scratch);
        let slope = slope(square);
        let (dimension, n) = (self.dimension(), self.factors.len());
        let mut from = 0;
        for (number, factor) in self.factors.iter().enumerate() {
            let here = from..from + factor.dimension;
            from = here.end;
            let share = slope * scratch.shares[number];
            for (d, gradient) in [(&mut *d_x, &gradients[0]), (&mut *d_y, &gradients[1])] {
                d[here.clone()].iter_mut().zip(&gradient[here.clone()]).for_each(|(d, g)| *d += share * g);
                // The curvature that counts is the mean of the two rows'.
                d[dimension + number] += 0.5 * share * scratch.by_curvature[number];
            }
            if self.gates {
                let at = dimension + n + number;
                let of_product = share * (scratch.squares[number] - square);
                d_x[at] += of_product * y[at];
                d_y[at] += of_product * x[at];
            }
        }
        scratch.gradients = gradients;
        square
    }

    /// The squared distances of the factors, and their gradients.
    fn parts(&self, x: &[f64], y: &[f64], scratch: &mut Scratch, mut gradients: Option<&mut [Vec<f64>; 2]>) {
        let Scratch { points, squares, by_curvature, .. } = scratch;
        squares.clear();
        by_curvature.clear();
        let mut from = 0;
        for (number, factor) in self.factors.iter().enumerate() {
            let here = from..from + factor.dimension;
            from = here.end;
            let at = self.dimension() + number;
            let (rows, curvature) = ([&x[here.clone()], &y[here.clone()]], 0.5 * (x[at] + y[at]));
            let d = gradients.as_mut().map(|d| d.each_mut().map(|d| &mut d[here.clone()]));
            let (square, slope) = factor.square(rows, curvature, points, d);
            squares.push(square);
            by_curvature.push(slope);
        }
    }

    /// The sum of the factors' squares, each with its share.
    fn total(&self, x: &[f64], y: &[f64], scratch: &mut Scratch) -> f64 {
        let Scratch { squares, shares, .. } = scratch;
        shares.clear();
        if self.gates {
            let at = self.dimension() + self.factors.len();
            shares.extend(x[at..].iter().zip(&y[at..]).take(self.factors.len()).map(|(x, y)| x * y));
            let most = shares.iter().fold(f64::NEG_INFINITY, |most, &share| most.max(share));
            shares.iter_mut().for_each(|share| *share = (*share - most).exp());
            let sum: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= sum);
        } else {
            shares.resize(self.factors.len(), 1.0);
        }
        squares.iter().zip(&*shares).map(|(square, share)| square * share).sum()
    }
}

impl Point {
    /// `f(c |v|^2) v`.
    fn along(&mut self, v: &[f64], c: f64, f: Radial, slope: bool) {
        let s = c * inner(v, v);
        let value = f.value(s);
        self.radial = [s, value, if slope { f.slope_at(s, value) } else { 0.0 }];
        self.x.clear();
        self.x.extend(v.iter().map(|v| v * value));
    }

    /// Writes the gradient by `v` of [`Point::along`] and gives that by `c`.
    fn back_along(&self, v: &[f64], c: f64, d_v: &mut [f64]) -> f64 {
        let [_, value, slope] = self.radial;
        let by_argument = inner(&self.d_x, v) * slope;
        let along = 2.0 * c * by_argument;
        d_v.iter_mut().zip(self.d_x.iter().zip(v)).for_each(|(d_v, (d, v))| *d_v = value * d + along * v);
        by_argument * inner(v, v)
    }

    /// The coordinates as they are.
    fn copy(&mut self, v: &[f64]) {
        self.x.clear();
        self.x.extend_from_slice(v);
    }

    fn zero(&mut self) {
        self.d_x.clear();
        self.d_x.resize(self.x.len(), 0.0);
    }
}

/// The gradients by the two rows of a factor, to be written; none where the square alone is wanted.
type Slopes<'a> = Option<[&'a mut [f64]; 2]>;

impl Factor {
    /// The squared distance and its slope by the curvature.
    fn square(&self, rows: [&[f64]; 2], curvature: f64, points: &mut [Point; 2], d: Slopes<'_>) -> (f64, f64) {
        match self.geometry {
            Geometry::Stereographic => of_stereographic(rows, curvature, points, d),
            Geometry::Hyperboloid => {
                let k = -1.0 / curvature;
                let (square, of_k) = of_hyperboloid(rows, k, true, points, d);
                (square, of_k * k * k)
            }
            Geometry::SpaceCoordinates => {
                let k = -1.0 / curvature;
                let (square, of_k) = of_hyperboloid(rows, k, false, points, d);
                (square, of_k * k * k)
            }
            Geometry::PseudoHyperboloid(time) => {
                let b = -1.0 / curvature;
                let (square, of_b) = of_pseudo_hyperboloid(rows, time, b, points, d);
                (square, of_b * b * b)
            }
        }
    }
}

/// Twice the sum of two rows' gradients by a difference: `d_x += f (x - y)`, `d_y -= f (x - y)`.
fn apart(points: &mut [Point; 2], f: f64) {
    let [p, q] = points;
    let rows = p.d_x.iter_mut().zip(&mut q.d_x).zip(p.x.iter().zip(&q.x));
    rows.for_each(|((d_x, d_y), (x, y))| {
        *d_x += f * (x - y);
        *d_y -= f * (x - y);
    });
}

fn square_apart(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// The squared distance, as [`stereographic::square_distance`] of exponentials has it.
fn of_stereographic(rows: [&[f64]; 2], kappa: f64, points: &mut [Point; 2], d: Slopes<'_>) -> (f64, f64) {
    let wanted = d.is_some();
    points.iter_mut().zip(rows).for_each(|(point, v)| point.along(v, -kappa, Radial::Tan, wanted));
    let lengths = points.each_ref().map(|point| inner(&point.x, &point.x));
    let below = lengths.map(|length| (1.0 + kappa * length).max(stereographic::LEAST));
    let q = square_apart(&points[0].x, &points[1].x) / (below[0] * below[1]);
    let s = -kappa * q;
    let f = Radial::ArcSin.value(s);
    let square = 4.0 * q * f * f;
    let Some(d) = d else { return (square, 0.0) };
    let of_f = 8.0 * q * f * Radial::ArcSin.slope_at(s, f);
    let of_q = 4.0 * f * f - kappa * of_f;
    let mut of_kappa = -q * of_f;
    points.iter_mut().for_each(Point::zero);
    apart(points, 2.0 * of_q / (below[0] * below[1]));
    for (((point, v), d_v), (length, below)) in points.iter_mut().zip(rows).zip(d).zip(lengths.into_iter().zip(below)) {
        if below > stereographic::LEAST {
            let of_below = -of_q * q / below;
            of_kappa += of_below * length;
            point.d_x.iter_mut().zip(&point.x).for_each(|(d, x)| *d += 2.0 * kappa * of_below * x);
        }
        of_kappa -= point.back_along(v, -kappa, d_v);
    }
    (square, of_kappa)
}

/// The squared distance, as [`super::lorentz::square_distance`] has it, of exponentials or of space coordinates; the slope is by K.
fn of_hyperboloid(rows: [&[f64]; 2], k: f64, exponential: bool, points: &mut [Point; 2], d: Slopes<'_>) -> (f64, f64) {
    for (point, v) in points.iter_mut().zip(rows) {
        match exponential {
            true => point.along(v, 1.0 / k, Radial::Sin, d.is_some()),
            false => point.copy(v),
        }
    }
    let times = points.each_ref().map(|point| (inner(&point.x, &point.x) + k).sqrt());
    let sum = times[0] + times[1];
    let product: f64 = points[0].x.iter().zip(&points[1].x).map(|(x, y)| (x - y) * (x + y)).sum();
    let of_times = product / sum;
    let chord = (square_apart(&points[0].x, &points[1].x) - of_times * of_times).max(0.0);
    let s = chord / (4.0 * k);
    let f = Radial::ArcSin.value(s);
    let square = chord * f * f;
    let Some(d) = d else { return (square, 0.0) };
    let of_f = 2.0 * chord * f * Radial::ArcSin.slope_at(s, f) / (4.0 * k);
    let of_chord = f * f + of_f;
    let mut of_k = -of_f * chord / k;
    points.iter_mut().for_each(Point::zero);
    if chord > 0.0 {
        apart(points, 2.0 * of_chord);
        // Of the difference of the times.
        let of_product = -2.0 * of_times * of_chord / sum;
        for ((point, time), sign) in points.iter_mut().zip(times).zip([1.0, -1.0]) {
            let of_square = -of_product * of_times / (2.0 * time);
            of_k += of_square;
            let along = 2.0 * (sign * of_product + of_square);
            point.d_x.iter_mut().zip(&point.x).for_each(|(d, x)| *d += along * x);
        }
    }
    for ((point, v), d_v) in points.iter().zip(rows).zip(d) {
        match exponential {
            true => of_k -= point.back_along(v, 1.0 / k, d_v) / (k * k),
            false => d_v.copy_from_slice(&point.d_x),
        }
    }
    (square, of_k)
}

/// The squared distance, as [`super::pseudo_hyperboloid::square_distance`] has it; the slope is by b.
fn of_pseudo_hyperboloid(rows: [&[f64]; 2], time: usize, b: f64, points: &mut [Point; 2], d: Slopes<'_>) -> (f64, f64) {
    let root = b.sqrt();
    for (point, v) in points.iter_mut().zip(rows) {
        let (a, space) = v.split_at(time);
        let (s, length) = (-inner(a, a) / b, (b + inner(space, space)).sqrt());
        let (first, rest) = (Radial::Cos.value(s), Radial::Sin.value(s) / root);
        point.radial = [s, first, rest];
        point.x.clear();
        point.x.push(first * length);
        point.x.extend(a.iter().map(|a| a * rest * length));
        point.x.extend(space);
    }
    let (of_time, of_space) = (
        square_apart(&points[0].x[..=time], &points[1].x[..=time]),
        square_apart(&points[0].x[time + 1..], &points[1].x[time + 1..]),
    );
    let s = (of_time - of_space) / (2.0 * b);
    let way = Radial::PseudoSquare.value(s);
    let Some(d) = d else { return (b * way, 0.0) };
    let slope = Radial::PseudoSquare.slope_at(s, way);
    // b way(s) with s = .../2b.
    let mut of_b = way - s * slope;
    points.iter_mut().for_each(Point::zero);
    apart(points, slope);
    points.iter_mut().for_each(|point| point.d_x[time + 1..].iter_mut().for_each(|d| *d = -*d));
    for ((point, v), d_v) in points.iter().zip(rows).zip(d) {
        let (a, space) = v.split_at(time);
        let [s, first, rest] = point.radial;
        let length = (b + inner(space, space)).sqrt();
        let (d_first, d_rest) = (point.d_x[0], inner(&point.d_x[1..=time], a));
        let of_length = first * d_first + rest * d_rest;
        let of_rest = length * d_rest;
        let of_s = length * d_first * Radial::Cos.slope(s) + of_rest / root * Radial::Sin.slope(s);
        of_b += of_length / (2.0 * length) - of_rest * rest / (2.0 * b) - of_s * s / b;
        let (d_a, d_space) = d_v.split_at_mut(time);
        for (d_a, (d, a)) in d_a.iter_mut().zip(point.d_x[1..].iter().zip(a)) {
            *d_a = rest * length * d - 2.0 * of_s / b * a;
        }
        for (d_space, (d, x)) in d_space.iter_mut().zip(point.d_x[time + 1..].iter().zip(space)) {
            *d_space = d + of_length * x / length;
        }
    }
    (b * way, of_b)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor, Var};

    use super::*;
    use crate::ground::random::Stream;

    fn check(space: &Space, curvatures: &[f64], length: f64) {
        let (n, columns) = (12, space.columns());
        let mut stream = Stream::new(7);
        let mut rows = || -> Vec<f64> {
            let mut values: Vec<f64> = (0..n * columns).map(|_| length * stream.normal()).collect();
            for row in values.chunks_exact_mut(columns) {
                row[space.dimension()..][..curvatures.len()].copy_from_slice(curvatures);
            }
            values
        };
        let (x, mut y) = (rows(), rows());
        // One pair is the same point twice, one starts at the origin.
        y[..columns].copy_from_slice(&x[..columns]);
        y[columns..][..space.dimension()].fill(0.0);
        let var = |x: &Vec<f64>| Var::from_tensor(&Tensor::from_vec(x.clone(), (n, columns), &Device::Cpu).unwrap());
        let (a, b) = (var(&x).unwrap(), var(&y).unwrap());
        let squares = space.square_distance(&a, &b).unwrap();
        // The loss is the square of the distance's square, so that its slope is not 1.
        let store = squares.sqr().unwrap().backward().unwrap();
        let numbers = |x: &Tensor| x.contiguous().unwrap().flatten_all().unwrap().to_vec1::<f64>().unwrap();
        let expected = [&a, &b].map(|of| numbers(store.get(of).unwrap()));
        let squares = numbers(&squares);
        let mut scratch = Scratch::default();
        for (at, (x, y)) in x.chunks_exact(columns).zip(y.chunks_exact(columns)).enumerate() {
            let mut d = [vec![0.25; columns], vec![0.25; columns]];
            let [d_x, d_y] = &mut d;
            let square = space.square_gradient([x, y], &mut scratch, |square| 2.0 * square, [d_x, d_y]);
            assert_eq!(square, space.square(x, y, &mut scratch));
            let close = |found: f64, expected: f64, size: f64| {
                assert!((found - expected).abs() <= 1e-9 * size.max(1e-3), "{space:?} {at}: {found} for {expected}");
            };
            close(square, squares[at], squares[at]);
            for (found, expected) in d.iter().zip(&expected) {
                let expected = &expected[at * columns..][..columns];
                let size = expected.iter().fold(0f64, |most, g| most.max(g.abs()));
                found.iter().zip(expected).for_each(|(found, g)| close(found - 0.25, *g, size));
            }
        }
    }

    #[test]
    fn distances_and_gradients_are_those_of_their_definition() {
        for length in [0.02, 0.3, 1.5] {
            for kappa in [-1.3, -1e-5, 0.0, 1e-5, 0.4] {
                // A sphere is read up to a bound, where both are constant.
                check(&Space::single(Geometry::Stereographic, 5), &[kappa], if kappa > 0.1 { 0.3 } else { length });
            }
            for curvature in [-0.4, -2.0] {
                check(&Space::single(Geometry::Hyperboloid, 5), &[curvature], length);
                check(&Space::single(Geometry::SpaceCoordinates, 5), &[curvature], length);
                for time in [0, 2, 5] {
                    check(&Space::single(Geometry::PseudoHyperboloid(time), 5), &[curvature], length);
                }
            }
        }
    }

    #[test]
    fn factors_of_a_product_are_summed_by_their_gates() {
        let factor = |geometry, dimension| Factor { geometry, dimension };
        let factors = vec![
            factor(Geometry::Stereographic, 3),
            factor(Geometry::Hyperboloid, 2),
            factor(Geometry::Stereographic, 4),
            factor(Geometry::PseudoHyperboloid(1), 3),
        ];
        for gates in [false, true] {
            check(&Space { factors: factors.clone(), gates }, &[-0.8, -1.2, 0.5, -0.6], 0.3);
        }
    }
}
