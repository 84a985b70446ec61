//! A loss of the distances of neighbours in a product of stereographic spaces, with its gradient, row by row: the quick form
//! of `pairs::gradient` where the pairs are the edges of a graph.
//!
//! A row reads its neighbours' rows and writes its own gradient alone, so that rows are tasks and nothing is held for an
//! edge; each edge is computed from both ends. What a distance needs of a row alone is computed once a row.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use super::{Geometry, Radial, Space, stereographic};
use crate::ground::Axis;
use crate::kernels::simd::{Body, Vectors, run_wide};

/// Rows of a task.
const PIECE: usize = 512;

/// A row's part in a factor.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    /// The curvature for which this holds.
    kappa: f64,
    /// `|v|^2` of the tangent vector that stores it.
    square: f64,
    /// `x = scale v` is the point.
    scale: f64,
    /// The derivative of `scale` by `-kappa square`.
    slope: f64,
    /// `1 + kappa |x|^2`, no less than a bound.
    below: f64,
}

impl Point {
    fn new(kappa: f64, square: f64) -> Self {
        let (scale, slope) = Radial::Tan.value_and_slope(-kappa * square);
        let below = (1.0 + kappa * scale * scale * square).max(stereographic::LEAST);
        Self { kappa, square, scale, slope, below }
    }

    /// The point's numbers for another curvature.
    fn at(self, kappa: f64) -> Self {
        if self.kappa.to_bits() == kappa.to_bits() { self } else { Self::new(kappa, self.square) }
    }
}

/// What a factor gives to the gradient of an edge, for a slope of 1.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// The squared distance.
    square: f64,
    /// The factor of the difference of the points in the gradient by the row's tangent vector,
    along: f64,
    /// and that of the tangent vector itself.
    own: f64,
    /// The derivative by the curvature.
    by_kappa: f64,
}

impl Part {
    /// Of the row v and its neighbour u, as [`stereographic::square_distance`] of exponentials has it; `apart` is the square
    /// of `delta = x_v - x_u`, and `product` is `<delta, v>`.
    #[inline(always)]
    fn new(kappa: f64, [v, u]: [Point; 2], apart: f64, product: f64) -> Self {
        let below = v.below * u.below;
        let q = apart / below;
        let s = -kappa * q;
        let (f, slope) = Radial::ArcSin.value_and_slope(s);
        let of_f = 8.0 * q * f * slope;
        let of_q = 4.0 * f * f - kappa * of_f;
        let mut by_kappa = -q * of_f;
        // The gradient by a point is `of_delta delta + of_point x`, with the other sign of delta at the neighbour.
        let of_delta = 2.0 * of_q / below;
        let mut of_point = |point: Point| {
            if point.below <= stereographic::LEAST {
                return 0.0;
            }
            let of_below = -of_q * q / point.below;
            by_kappa += of_below * point.scale * point.scale * point.square;
            2.0 * kappa * of_below
        };
        let of_points = [of_point(v), of_point(u)];
        // `<delta, scale_v v> - <delta, scale_u u> = |delta|^2`.
        let of_neighbor = (v.scale * product - apart) / u.scale;
        let by_argument = |point: Point, product: f64, of_point: f64| {
            (of_delta * product + of_point * point.scale * point.square) * point.slope
        };
        let by_arguments = [by_argument(v, product, of_points[0]), by_argument(u, -of_neighbor, of_points[1])];
        by_kappa -= by_arguments[0] * v.square + by_arguments[1] * u.square;
        let own = v.scale * v.scale * of_points[0] - 2.0 * kappa * by_arguments[0];
        Self { square: 4.0 * q * f * f, along: v.scale * of_delta, own, by_kappa }
    }
}

/// A loss of an edge by the squared distance of its ends, and its slope by that.
pub type OfSquare<'a> = &'a (dyn Fn(f64) -> (f64, f64) + Sync);

/// The sum of a loss over the edges of a graph, given by the neighbours of each node, both ways, and its gradient by every
/// row of `x`. The same bits for any number of threads. O(edges * columns).
///
/// # Panics
/// If a factor is not stereographic.
pub fn gradient(
    space: &Space,
    (offsets, targets): (&[usize], &[u32]),
    x: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
    of: OfSquare<'_>,
) -> Result<f64, Stopped> {
    assert!(space.factors.iter().all(|factor| factor.geometry == Geometry::Stereographic), "{space:?}");
    let stride = Axis::padded(1, space.columns()).stride();
    let (n, count) = (offsets.len() - 1, space.factors.len());
    let mut points = vec![Point::default(); n * count];
    points.par_chunks_mut(PIECE * count).zip(x.par_chunks(PIECE * stride)).try_for_each(|(points, x)| {
        monitor.check()?;
        run_wide(Points { space, x, stride, points });
        Ok(())
    })?;
    let one = |(piece, out): (usize, &mut [f32])| -> Result<f64, Stopped> {
        monitor.check()?;
        let first = piece * PIECE;
        Ok(run_wide(Rows { space, offsets, targets, x, stride, points: &points, of, first, out }))
    };
    let sums: Vec<f64> =
        gradient.par_chunks_mut(PIECE * stride).enumerate().map(one).collect::<Result<_, Stopped>>()?;
    Ok(sums.into_iter().sum())
}

/// What each row of `x` is in each factor.
struct Points<'a> {
    space: &'a Space,
    x: &'a [f32],
    stride: usize,
    points: &'a mut [Point],
}

impl Body for Points<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { space, x, stride, points } = self;
        let (dimension, mut wide) = (space.dimension(), Vec::new());
        for (x, points) in x.chunks_exact(stride).zip(points.chunks_exact_mut(space.factors.len())) {
            let (mut v, curvatures) = x.split_at(dimension);
            for ((factor, point), kappa) in space.factors.iter().zip(points).zip(curvatures) {
                let (here, rest) = v.split_at(factor.dimension);
                v = rest;
                wide.clear();
                wide.extend(here.iter().map(|v| f64::from(*v)));
                *point = Point::new(f64::from(*kappa), inner_quads(&wide, &wide));
            }
        }
    }
}

/// The gradients of some rows.
struct Rows<'a> {
    space: &'a Space,
    offsets: &'a [usize],
    targets: &'a [u32],
    x: &'a [f32],
    stride: usize,
    points: &'a [Point],
    of: OfSquare<'a>,
    first: usize,
    out: &'a mut [f32],
}

impl Body for Rows<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vectors>(self) -> f64 {
        let Self { space, offsets, targets, x, stride, points, of, first, out } = self;
        let (count, dimension) = (space.factors.len(), space.dimension());
        let row = |node: usize| &x[node * stride..][..stride];
        let (mut delta, mut parts) = (vec![0.0; dimension], vec![Part::default(); count]);
        let (mut shares, mut sums) = (vec![1.0; count], vec![0.0; space.columns()]);
        let (mut own, mut wide) = (vec![0.0; count], vec![0.0; dimension]);
        let mut total = 0.0;
        for (at, out) in out.chunks_exact_mut(stride).enumerate() {
            let node = first + at;
            let (v, of_v) = (row(node), &points[node * count..][..count]);
            wide.iter_mut().zip(v).for_each(|(wide, v)| *wide = f64::from(*v));
            sums.fill(0.0);
            own.fill(0.0);
            let near = &targets[offsets[node]..offsets[node + 1]];
            for (number, &neighbor) in near.iter().enumerate() {
                if let Some(&next) = near.get(number + 1) {
                    row(next as usize).chunks(16).for_each(|line| V::ask(&line[0]));
                    points[next as usize * count..][..count].iter().for_each(V::ask);
                }
                let (u, of_u) = (row(neighbor as usize), &points[neighbor as usize * count..][..count]);
                let mut from = 0;
                for (number, factor) in space.factors.iter().enumerate() {
                    let here = from..from + factor.dimension;
                    from = here.end;
                    let kappa = 0.5 * (f64::from(v[dimension + number]) + f64::from(u[dimension + number]));
                    let ends = [of_v[number].at(kappa), of_u[number].at(kappa)];
                    let scales = ends.map(|end| end.scale);
                    let (v, delta) = (&wide[here.clone()], &mut delta[here.clone()]);
                    subtract(scales, v, &u[here], delta);
                    let (apart, product) = (inner_quads(delta, delta), inner_quads(delta, v));
                    parts[number] = Part::new(kappa, ends, apart, product);
                }
                if space.gates {
                    gates(&v[dimension + count..], &u[dimension + count..], &mut shares);
                }
                let square = parts.iter().zip(&shares).map(|(part, share)| part.square * share).sum();
                let (loss, slope) = of(square);
                // The edge is met from its other end, too.
                total += 0.5 * loss;
                let (of_vectors, of_others) = sums.split_at_mut(dimension);
                let (mut delta, mut of_vectors) = (&delta[..], of_vectors);
                for (number, (factor, part)) in space.factors.iter().zip(&parts).enumerate() {
                    let share = slope * shares[number];
                    let (here, rest) = std::mem::take(&mut of_vectors).split_at_mut(factor.dimension);
                    let (apart, others) = delta.split_at(factor.dimension);
                    (delta, of_vectors) = (others, rest);
                    add(share * part.along, apart, here);
                    own[number] += share * part.own;
                    // The curvature that counts is the mean of the two rows'.
                    of_others[number] += 0.5 * share * part.by_kappa;
                    if space.gates {
                        let weight = f64::from(u[dimension + count + number]);
                        of_others[count + number] += share * (part.square - square) * weight;
                    }
                }
            }
            let mut from = 0;
            for (factor, own) in space.factors.iter().zip(&own) {
                let here = from..from + factor.dimension;
                from = here.end;
                add(*own, &wide[here.clone()], &mut sums[here]);
            }
            let (written, padding) = out.split_at_mut(sums.len());
            written.iter_mut().zip(&sums).for_each(|(out, sum)| *out = *sum as f32);
            padding.fill(0.0);
        }
        total
    }
}

/// The softmax of the products of two rows' gates.
#[inline(always)]
fn gates(v: &[f32], u: &[f32], shares: &mut [f64]) {
    shares.iter_mut().zip(v.iter().zip(u)).for_each(|(share, (v, u))| *share = f64::from(*v) * f64::from(*u));
    let most = shares.iter().fold(f64::NEG_INFINITY, |most, &share| most.max(share));
    shares.iter_mut().for_each(|share| *share = (*share - most).exp());
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
}

/// `delta = a v - b u`.
#[inline(always)]
fn subtract([a, b]: [f64; 2], v: &[f64], u: &[f32], delta: &mut [f64]) {
    delta.iter_mut().zip(v.iter().zip(u)).for_each(|(delta, (v, u))| *delta = a * v - b * f64::from(*u));
}

/// The inner product, as [`super::inner`] sums it, compiled for the instruction set of the caller.
#[inline(always)]
fn inner_quads(x: &[f64], y: &[f64]) -> f64 {
    let ((xs, x), (ys, y)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (x, y) in xs.iter().zip(ys) {
        (0..4).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    let rest: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `sum += factor * x`.
#[inline(always)]
fn add(factor: f64, x: &[f64], sum: &mut [f64]) {
    x.iter().zip(sum).for_each(|(x, sum)| *sum += factor * x);
}

#[cfg(test)]
mod tests {
    use bonnet_graph::{Graph, Unmonitored};

    use super::super::{Factor, pairs};
    use super::*;
    use crate::ground::random::Stream;

    /// The curvatures of a row.
    type Curvatures<'a> = &'a dyn Fn(usize) -> Vec<f64>;

    fn check(space: &Space, length: f64, curvatures: Curvatures<'_>) {
        let n = 60;
        let mut stream = Stream::new(11);
        let edges: Vec<(u32, u32)> = (0..150).map(|_| (stream.below(n) as u32, stream.below(n) as u32)).collect();
        let graph = Graph::from_edges(n, &edges);
        let axis = Axis::padded(1, space.columns());
        let mut x = vec![0f32; n * axis.stride()];
        for (node, row) in x.chunks_exact_mut(axis.stride()).enumerate() {
            row[..space.columns()].iter_mut().for_each(|x| *x = (length * stream.normal()) as f32);
            row[space.dimension()..].iter_mut().zip(curvatures(node)).for_each(|(to, c)| *to = c as f32);
        }
        // A node at the origin, and two neighbours at one place.
        x[..space.dimension()].fill(0.0);
        let (a, b) = graph.edges().next().unwrap();
        let copied = x[a as usize * axis.stride()..][..space.dimension()].to_vec();
        x[b as usize * axis.stride()..][..space.dimension()].copy_from_slice(&copied);
        let edges: Vec<(u32, u32)> = graph.edges().collect();
        let of = |square: f64| ((square - 1.0).powi(2), 2.0 * (square - 1.0));
        let (mut expected, mut found) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len()]);
        let sum = pairs::gradient(space, &edges, &x, &mut expected, &Unmonitored, &|_, square| of(square)).unwrap();
        let total = gradient(space, (graph.offsets(), graph.targets()), &x, &mut found, &Unmonitored, &of).unwrap();
        assert!((total - sum).abs() <= 1e-12 * sum, "{space:?}: {total} for {sum}");
        for (node, (found, expected)) in found.chunks(axis.stride()).zip(expected.chunks(axis.stride())).enumerate() {
            let size = expected.iter().fold(1e-3f32, |most, g| most.max(g.abs()));
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-5 * size, "{space:?} {node}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn gradients_of_rows_are_those_of_the_pairs() {
        for gates in [false, true] {
            let factor = |dimension| Factor { geometry: Geometry::Stereographic, dimension };
            let space = Space { factors: [9, 16, 3].map(factor).to_vec(), gates };
            for length in [0.02, 0.3] {
                check(&space, length, &|_| vec![-0.8, 0.0, 0.4]);
                check(&space, length, &|_| vec![-1e-5, -1.3, 1e-5]);
                // Rows of other curvatures: what counts is the mean.
                check(&space, length, &|node| vec![-0.8 - 0.01 * node as f64, 0.01 * node as f64 - 0.3, 0.4]);
            }
            check(&space, 1.5, &|_| vec![-0.8, 0.0, -1.2]);
        }
    }
}
