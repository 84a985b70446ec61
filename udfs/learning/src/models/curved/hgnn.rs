//! Hyperbolic graph neural network (Liu, Nickel and Kiela 2019, Eq. 2, 6 and 7).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial, OptionError, PointSpace};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem, curved};
use crate::options::table::{AFFINITY, DIRECTION, GEODESIC, MANIFOLD, NO_YES, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::curved::{BallDistances, BallRectifier, Layered};
use crate::program::{Builder, Program, Source};
use crate::spaces::Manifold;

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
            "whether nodes aggregate their neighbours; false is the hyperbolic perceptron (Ganea, Becigneul and Hofmann 2018)",
        ),
        OptionSpec::integer(
            "centroids",
            100,
            [1, 4096],
            "learned points of the last layer's space; nodes are classified by their distances to these",
        ),
        AFFINITY,
        DIRECTION,
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// The curvature is -1.
const CURVATURE: f64 = 1.0;

/// `h_i <- relu(exp_0(sum_j a_ij W log_0(h_j)))` with `D^-1/2 (A + I) D^-1/2 = (a_ij)`, as the authors' program has it, or the
/// other affinity, the rectifier on coordinates of the Poincare ball. Classes are an affine map of the distances to learned
/// centroids.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let manifold = curved::manifold(&options)?;
    let aggregate = options.text("aggregate")? == "true";
    let centroids = options.integer("centroids")? as usize;
    let operator = match aggregate {
        true => Some(Arc::new(problem.affinity(reservation)?)),
        false if options.reads_weights() => {
            let valid = "false with aggregate => false, where nodes aggregate no neighbours";
            return Err(OptionError::invalid("weights", "true", valid).into());
        }
        false if options.reads_arcs() => {
            let valid = "edges with aggregate => false, where nodes aggregate no neighbours";
            return Err(OptionError::invalid("adjacency", "arcs", valid).into());
        }
        false if options.text("affinity")? != "symmetric" => {
            let valid = "symmetric with aggregate => false, where nodes aggregate no neighbours";
            return Err(OptionError::invalid("affinity", options.text("affinity")?, valid).into());
        }
        false => None,
    };
    let of_ball = if manifold == Manifold::Ball { 1.0 } else { 0.5 };
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let width = if last { curved::last_width(&options) } else { options.hidden };
        let z = b.linear(x, format!("{l}.weight"), width);
        let z = operator.as_ref().map_or(z, |operator| b.propagate(operator, z));
        let h = b.rows(BallRectifier(of_ball), &[z], &[], width);
        b.embedding(h);
        if last {
            return curved::finish(b, &options, h, manifold.space(width), &Layered::fixed(CURVATURE), |b, h| {
                let (rows, columns) = (Axis::exact(centroids), b.axis(h));
                let (initial, space) = (Initial::glorot(centroids, width), PointSpace::Hyperboloid { c: CURVATURE });
                let centres = b.point_parameter("centroids", rows, columns, initial, space);
                let distances = b.rows(BallDistances { scale: of_ball, dimension: width }, &[h], &[centres], centroids);
                Ok(b.affine(distances, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
