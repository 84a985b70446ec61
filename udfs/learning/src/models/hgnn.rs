//! Hyperbolic graph neural network (Liu, Nickel and Kiela 2019, Eq. 2, 6 and 7).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result, Tensor};

use crate::choices::Task;
use crate::error::{BuildError, OptionError};
use crate::network::{Axis, Initial, Operator, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::expression::Rowwise;
use crate::program::{Builder, Program, Source};
use crate::spaces::hyperbolic::{self, Layered};
use crate::spaces::{Manifold, PointSpace, lorentz, stereographic};
use crate::spec::{ModelSpec, reach};
use crate::table::{GEODESIC, MANIFOLD, NO_YES, WEIGHTS};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hgnn",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Liu, Nickel and Kiela 2019, Hyperbolic graph neural networks",
    defaults: Defaults { hidden: 16, ..COMMON },
    own: &[
        MANIFOLD,
        OptionSpec::choice(
            "aggregate",
            "true",
            NO_YES,
            "whether nodes hear their neighbours; false is the hyperbolic perceptron (Ganea, Becigneul and Hofmann 2018)",
        ),
        OptionSpec::integer(
            "centroids",
            100,
            [1, 4096],
            "learned points of the last layer's space; nodes are classified by their distances to these",
        ),
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// The curvature is -1.
const CURVATURE: f64 = 1.0;

/// `log_0(relu(exp_0(m)))`: the activation acts on coordinates of the ball. A tangent vector of the hyperboloid is half as
/// long there.
#[derive(Debug)]
struct Activate(f64);

impl Rowwise for Activate {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let kappa = Tensor::full(-CURVATURE, (1, 1), x[0].device())?.to_dtype(x[0].dtype())?;
        let ball = stereographic::exp0(&(&x[0] * self.0)?, &kappa)?.relu()?;
        stereographic::log0(&ball, &kappa)? * (1.0 / self.0)
    }
}

/// The distance of each row to each centroid, which a parameter holds by space coordinates.
#[derive(Debug)]
struct Distances(f64);

impl Rowwise for Distances {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (v, p) = (&x[0], &w[0]);
        let one = Tensor::ones((1, 1), v.dtype(), v.device())?;
        let kappa = (&one * -CURVATURE)?;
        // x / (1 + x_0) of the hyperboloid is the point of the ball.
        let ball = p.broadcast_div(&(lorentz::time(p, &one)? + 1.0)?)?;
        let squares = stereographic::square_distances(&stereographic::exp0(&(v * self.0)?, &kappa)?, &ball, &kappa)?;
        // No root of 0, which has no slope.
        (squares + 1e-15)?.sqrt()
    }
}

/// `h_i <- relu(exp_0(sum_j a_ij W log_0(h_j)))` with `D^-1/2 (A + I) D^-1/2 = (a_ij)`, the rectifier on coordinates of the
/// Poincare ball. Classes are an affine map of the distances to learned centroids.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> std::result::Result<Program, BuildError> {
    let options = problem.options;
    let manifold = Manifold::of(options)?;
    let aggregate = options.text("aggregate")? == "true";
    let centroids = options.integer("centroids")? as usize;
    let operator = match aggregate {
        true => Some(Arc::new(Operator::symmetric(&problem.graph, reservation)?)),
        false if options.reads_weights() => {
            let valid = "false with aggregate => false, where nodes hear no neighbours";
            return Err(OptionError::invalid("weights", "true", valid).into());
        }
        false => None,
    };
    let of_ball = if manifold == Manifold::Ball { 1.0 } else { 0.5 };
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let width = if last { hyperbolic::last_width(options) } else { options.hidden };
        let z = b.linear(x, format!("{l}.weight"), width);
        let z = operator.as_ref().map_or(z, |operator| b.propagate(operator, z));
        let h = b.rows(Activate(of_ball), &[z], &[], width);
        b.embedding(h);
        if last {
            return hyperbolic::finish(b, h, manifold.space(width), &Layered::fixed(CURVATURE), |b, h| {
                let (rows, columns) = (Axis::exact(centroids), b.axis(h));
                let (initial, space) = (Initial::glorot(centroids, width), PointSpace::Hyperboloid { c: CURVATURE });
                let centres = b.point_parameter("centroids", rows, columns, initial, space);
                let distances = b.rows(Distances(of_ball), &[h], &[centres], centroids);
                Ok(b.affine(distances, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
