//! Fully hyperbolic neural network on graphs (Chen et al. 2022, Eq. 3, 5 and 6).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{D, Result, Tensor};

use crate::choices::Task;
use crate::error::BuildError;
use crate::features;
use crate::network::{Axis, Initial, Operator, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::composed::{Hop, Neighborwise};
use crate::program::layers::expression::Rowwise;
use crate::program::{Builder, Program, Slot, Source};
use crate::spaces::{Geometry, PointSpace, Space, hyperbolic, lorentz, space, square};
use crate::spec::{ModelSpec, reach};
use crate::table::{GEODESIC, NO_YES, WEIGHTS};

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
}

/// Sums of points put back on the hyperboloid: a centroid (Eq. 6).
fn centroid(sum: &Tensor) -> Result<Tensor> {
    let (time, rest) = parts(sum)?;
    let rest = rest.broadcast_div(&(time.sqr()? - square(&rest)?)?.maximum(1e-8)?.sqrt()?)?;
    let one = Tensor::ones((1, 1), sum.dtype(), sum.device())?;
    Tensor::cat(&[lorentz::time(&rest, &one)?, rest], D::Minus1)
}

#[derive(Debug)]
struct Centroid;

impl Rowwise for Centroid {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        centroid(&x[0])
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

/// `2 + 2 <x, p_c>`: the negative squared Lorentz distance to the point of each class.
#[derive(Debug)]
struct Distances;

impl Rowwise for Distances {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let ((time, rest), p) = (parts(&x[0])?, &w[0]);
        let one = Tensor::ones((1, 1), p.dtype(), p.device())?;
        let times = time.matmul(&lorentz::time(p, &one)?.t()?.contiguous()?)?;
        (rest.matmul(&p.t()?.contiguous()?)? - times)?.affine(2.0, 2.0)
    }
}

/// The space coordinates, with the curvature beside them.
#[derive(Debug)]
struct Points;

impl Rowwise for Points {
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
        true => Operator::scores(problem, reservation)?,
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
        let points = b.rows(Points, &[h], &[], space.columns());
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
            let z = b.rows(Distances, &[h], &[classes], problem.n_outputs);
            b.bias(z, "decode.bias")
        }
        Task::LinkPrediction => points(&mut b),
        _ => b.rows(Tangent, &[h], &[], width),
    };
    Ok(b.finish(output)?)
}
