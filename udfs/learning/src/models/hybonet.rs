//! Fully hyperbolic neural network on graphs (Chen et al. 2022, Eq. 3, 5 and 6).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{D, Result, Tensor};

use crate::choices::Task;
use crate::error::BuildError;
use crate::features;
use crate::network::{Axis, Hop, Initial, Operator, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::composed::Neighborwise;
use crate::program::layers::expression::Rowwise;
use crate::program::layers::row_kernel::RowKernel;
use crate::program::{Builder, Program, Slot, Source};
use crate::spaces::{Geometry, PointSpace, Space, hyperbolic, inner, lorentz, sigmoid, space, square};
use crate::spec::{ModelSpec, reach};
use crate::table::{DIRECTION, GEODESIC, NO_YES, WEIGHTS};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hybonet",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Chen, Han, Lin, Zhao, Liu, Li, Sun and Zhou 2022, Fully hyperbolic neural networks",
    defaults: Defaults { hidden: 16, ..COMMON },
    own: &[
        OptionSpec::choice(
            "attention",
            "false",
            NO_YES,
            "weights of neighbours. false: uniform; true: a softmax of the negative squared Lorentz distance of a query \
             and a key, which linear layers give",
        ),
        OptionSpec::real(
            "time_scale",
            10.0,
            [0.0, 1e6],
            "the scale of a layer's time coordinate at first; it is learned",
        ),
        DIRECTION,
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// The least time of a linear layer's output, which leaves its space coordinates a length.
const LEAST_TIME: f64 = 1.1;

/// The time and the space of rows, time first.
fn parts(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let width = x.dim(D::Minus1)?;
    Ok((x.narrow(D::Minus1, 0, 1)?.contiguous()?, x.narrow(D::Minus1, 1, width - 1)?.contiguous()?))
}

/// A Lorentz linear layer behind its affine map y (Eq. 3): the time is `lambda sigmoid(y_0) + 1.1`, the space has the
/// direction of the rest of y and the length that puts the point on the hyperboloid.
#[derive(Debug)]
struct Lift;

impl Rowwise for Lift {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (first, rest) = parts(&x[0])?;
        let sigmoid = (first.neg()?.exp()? + 1.0)?.recip()?;
        let time = (sigmoid.broadcast_mul(&w[0].exp()?)? + LEAST_TIME)?;
        let length = ((time.sqr()? - 1.0)? / (square(&rest)? + 1e-15)?)?.sqrt()?;
        Tensor::cat(&[time, rest.broadcast_mul(&length)?], D::Minus1)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

impl RowKernel for Lift {
    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let (width, scale) = (x.len() / n.max(1), read[0][0].exp());
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let time = sigmoid(x[0]) * scale + LEAST_TIME;
            let length = ((time * time - 1.0) / (inner(&x[1..], &x[1..]) + 1e-15)).sqrt();
            y[0] = time;
            y[1..].iter_mut().zip(&x[1..]).for_each(|(y, x)| *y = x * length);
        }
    }

    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (width, scale) = (x.len() / n.max(1), read[0][0].exp());
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let (share, below) = (sigmoid(x[0]), inner(&x[1..], &x[1..]) + 1e-15);
            let time = share * scale + LEAST_TIME;
            let length = ((time * time - 1.0) / below).sqrt();
            let d_length = inner(&d_y[1..], &x[1..]);
            let d_time = d_y[0] + d_length * time / (length * below);
            d_x[0] += d_time * scale * share * (1.0 - share);
            d_read[0][0] += d_time * scale * share;
            let along = d_length * length / below;
            let rest = d_x[1..].iter_mut().zip(&d_y[1..]).zip(&x[1..]);
            rest.for_each(|((d_x, d_y), x)| *d_x += length * d_y - along * x);
        }
    }
}

/// Sums of points put back on the hyperboloid: a centroid (Eq. 6).
fn centroid(sum: &Tensor) -> Result<Tensor> {
    let (time, rest) = parts(sum)?;
    let rest = rest.broadcast_div(&(time.sqr()? - square(&rest)?)?.maximum(LEAST_SQUARE)?.sqrt()?)?;
    let one = Tensor::ones((1, 1), sum.dtype(), sum.device())?;
    Tensor::cat(&[lorentz::time(&rest, &one)?, rest], D::Minus1)
}

#[derive(Debug)]
struct Centroid;

impl Rowwise for Centroid {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        centroid(&x[0])
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// The least `-<s, s>` of a sum s that is divided by its root.
const LEAST_SQUARE: f64 = 1e-8;

impl RowKernel for Centroid {
    fn values(&self, n: usize, x: &[f64], _: &[Vec<f64>], y: &mut [f64]) {
        let width = x.len() / n.max(1);
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let square = inner(&x[1..], &x[1..]);
            let below = (x[0] * x[0] - square).max(LEAST_SQUARE);
            y[0] = (square / below + 1.0).sqrt();
            let root = below.sqrt();
            y[1..].iter_mut().zip(&x[1..]).for_each(|(y, x)| *y = x / root);
        }
    }

    fn gradients(&self, n: usize, x: &[f64], _: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], _: &mut [Vec<f64>]) {
        let width = x.len() / n.max(1);
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let square = inner(&x[1..], &x[1..]);
            let minkowski = x[0] * x[0] - square;
            let below = minkowski.max(LEAST_SQUARE);
            let (root, time) = (below.sqrt(), (square / below + 1.0).sqrt());
            // By u = x / root: the gradient of u, and from it that of `below`.
            let d_time = d_y[0] / (time * root);
            let d_below = match minkowski > LEAST_SQUARE {
                true => -(inner(&d_y[1..], &x[1..]) / root + d_time * square / root) / (2.0 * below),
                false => 0.0,
            };
            d_x[0] += 2.0 * d_below * x[0];
            let rest = d_x[1..].iter_mut().zip(&d_y[1..]).zip(&x[1..]);
            rest.for_each(|((d_x, d_y), x)| *d_x += (d_y + d_time * x) / root - 2.0 * d_below * x);
        }
    }
}

/// The centroid of the neighbours by attention (Eq. 5): points, queries, keys.
#[derive(Debug)]
struct Attend;

impl Neighborwise for Attend {
    fn compute(&self, x: &[Tensor], _: &[Tensor], hop: &Hop) -> Result<Tensor> {
        let ((q_time, q), (k_time, k)) = (parts(&x[1])?, parts(&x[2])?);
        let times = (hop.target(&q_time)? * hop.source(&k_time)?)?;
        let inner = ((hop.target(&q)? * hop.source(&k)?)?.sum_keepdim(D::Minus1)? - times)?;
        // -d^2 = 2 + 2 <q, k> by the root of the width.
        let scores = inner.affine(2.0, 2.0)? * (1.0 / (q.dim(D::Minus1)? as f64).sqrt());
        let weights = hop.softmax(&scores?)?;
        centroid(&hop.sum(&hop.source(&x[0])?.broadcast_mul(&weights)?)?)
    }
}

/// `2 + 2 <x, p_c>`: the negative squared Lorentz distance to the point of each class, of so many dimensions.
#[derive(Debug)]
struct Distances(usize);

impl Rowwise for Distances {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let ((time, rest), p) = (parts(&x[0])?, &w[0]);
        let one = Tensor::ones((1, 1), p.dtype(), p.device())?;
        let times = time.matmul(&lorentz::time(p, &one)?.t()?.contiguous()?)?;
        (rest.matmul(&p.t()?.contiguous()?)? - times)?.affine(2.0, 2.0)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// Rows read the points of the classes, time first.
impl RowKernel for Distances {
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let dimension = self.0;
        let point = |p: &[f64]| -> Vec<f64> { [&[(inner(p, p) + 1.0).sqrt()], p].concat() };
        vec![w[0].chunks_exact(dimension).flat_map(point).collect()]
    }

    fn pull(&self, w: &[Vec<f64>], read: &[Vec<f64>], d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let (dimension, width) = (self.0, self.0 + 1);
        let points = w[0].chunks_exact(dimension).zip(read[0].chunks_exact(width)).zip(d_read[0].chunks_exact(width));
        vec![points.flat_map(|((p, q), d)| p.iter().zip(&d[1..]).map(move |(p, g)| g + d[0] * p / q[0])).collect()]
    }

    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let (width, classes) = (self.0 + 1, y.len() / n.max(1));
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(classes)) {
            for (y, p) in y.iter_mut().zip(read[0].chunks_exact(width)) {
                *y = 2.0 + 2.0 * (inner(&x[1..], &p[1..]) - x[0] * p[0]);
            }
        }
    }

    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (width, classes) = (self.0 + 1, d_y.len() / n.max(1));
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(classes)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let points = read[0].chunks_exact(width).zip(d_read[0].chunks_exact_mut(width));
            for (d, (p, d_p)) in d_y.iter().zip(points) {
                let sign = |at: usize| if at == 0 { -2.0 * d } else { 2.0 * d };
                for at in 0..width {
                    d_x[at] += sign(at) * p[at];
                    d_p[at] += sign(at) * x[at];
                }
            }
        }
    }
}

/// The space coordinates, with the curvature beside them.
#[derive(Debug)]
struct SpaceCoordinates;

impl Rowwise for SpaceCoordinates {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let (_, rest) = parts(&x[0])?;
        let minus = (Tensor::ones((1, 1), rest.dtype(), rest.device())? * -1.0)?;
        space::with_curvatures(&rest, &[minus])
    }
}

/// Tangent vectors at the origin.
#[derive(Debug)]
struct Tangent;

impl Rowwise for Tangent {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let (_, rest) = parts(&x[0])?;
        lorentz::log0(&rest, &Tensor::ones((1, 1), rest.dtype(), rest.device())?)
    }
}

/// `x_i <- centroid of the neighbours' f(x_j)` with Lorentz linear layers f on the hyperboloid of curvature -1, after a
/// rectifier from the second layer on; no exponentials between the layers. Features are lifted by `exp_0`, their tangent
/// vectors no longer than 20. Classes by the negative squared Lorentz distance to a learned point, plus a bias.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> std::result::Result<Program, BuildError> {
    let options = problem.options;
    let attention = options.text("attention")? == "true";
    let scale = options.real("time_scale")?.max(f64::MIN_POSITIVE);
    let operator = Arc::new(match attention {
        true => problem.attention(reservation)?,
        false => Operator::mean_with_loops(&problem.graph, reservation)?,
    });
    reservation.grow(features::lifted_bytes(&problem.features, problem.graph.n_nodes()))?;
    let lifted = Arc::new(features::lifted(&problem.features, problem.graph.n_nodes()));
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.features(lifted, options.dropout).into();
    let linear = |b: &mut Builder<'_, '_, '_>, x: Source, name: String, width: usize| {
        let z = b.affine(x, &name, width + 1);
        let initial = Initial::Constant(scale.ln());
        let scale = b.parameter(format!("{name}.scale"), Axis::exact(1), Axis::exact(1), initial);
        b.rows(Lift, &[z], &[scale], width + 1)
    };
    let mut l = 0;
    let h = loop {
        let last = l + 1 == options.layers;
        let width = if last { hyperbolic::last_width(options) } else { options.hidden };
        let z = linear(&mut b, x, l.to_string(), width);
        let h = if attention {
            let (q, k) = (
                linear(&mut b, z.into(), format!("{l}.query"), width),
                linear(&mut b, z.into(), format!("{l}.key"), width),
            );
            b.neighbors(Attend, &operator, &[z, q, k], &[], b.axis(z))
        } else {
            let sum = b.propagate(&operator, z);
            b.rows(Centroid, &[sum], &[], width + 1)
        };
        b.embedding(h);
        if last {
            break h;
        }
        let h = b.relu(h);
        x = b.dropout(h, options.dropout).into();
        l += 1;
    };
    let width = hyperbolic::last_width(options);
    let points = |b: &mut Builder<'_, '_, '_>| {
        let space = Space::single(Geometry::SpaceCoordinates, width);
        let points = b.rows(SpaceCoordinates, &[h], &[], space.columns());
        b.points(points, space);
        points
    };
    let output: Slot = match options.task {
        Task::NodeClassification => {
            if options.keep_embeddings {
                points(&mut b);
            }
            let (rows, columns) = (Axis::exact(problem.n_outputs), Axis::padded(1, width));
            let (initial, space) = (Initial::glorot(problem.n_outputs, width), PointSpace::Hyperboloid { c: 1.0 });
            let classes = b.point_parameter("classes", rows, columns, initial, space);
            let z = b.rows(Distances(width), &[h], &[classes], problem.n_outputs);
            b.bias(z, "decode.bias")
        }
        Task::LinkPrediction => points(&mut b),
        _ => b.rows(Tangent, &[h], &[], width),
    };
    Ok(b.finish(output)?)
}
