//! Pseudo-Riemannian graph convolutional network (Xiong et al. 2022, Sec. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem, curved};
use crate::options::table::{CURVATURE, DIRECTION, GEODESIC, MEAN_AFFINITY, WEIGHTS};
use crate::options::{COMMON, Defaults, Domain, OptionSpec, Task};
use crate::program::layers::curved::{Layered, PseudoHyperbolicBias, Translation};
use crate::program::{Builder, Program, Source};
use crate::spaces::{Geometry, Space};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "qgcn",
    family: "message passing",
    geometry: "pseudo-Riemannian",
    tasks: Task::NAMES,
    source: "Xiong, Zhu, Potyka, Pan, Zhou and Staab 2022, Pseudo-Riemannian graph convolutional networks",
    defaults: Defaults { hidden: 16, ..COMMON },
    own: &[
        OptionSpec::new(
            "signature",
            Domain::OptionalCounts { min: 0, max: 65_536 },
            "dimensions of space and of time, such as 8,8, which add up to the width of each layer; (width, 0) is the \
             hyperboloid, (0, width) the sphere; NULL is half of each",
        ),
        CURVATURE,
        MEAN_AFFINITY,
        DIRECTION,
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// The dimensions of time of a layer of some width.
fn time(problem: &Problem<'_>, width: usize) -> Result<usize, OptionError> {
    let Ok(given) = problem.options.counts("signature") else { return Ok(width / 2) };
    match given[..] {
        [space, time] if (space + time) as usize == width => Ok(time as usize),
        _ => {
            let text: Vec<String> = given.iter().map(u32::to_string).collect();
            Err(OptionError::invalid(
                "signature",
                text.join(","),
                &format!("two numbers, of space and of time, that add up to the width of a layer, {width}"),
            ))
        }
    }
}

/// `h_i <- exp_o(relu(sum_j a_ij log_o(W h_j + b)))` on the pseudo-hyperboloid, with the exponential and the logarithm of
/// `S^t x R^s`, to which it is diffeomorphic, and `(a_ij)` the affinity: the mean over a node and its neighbours, as the
/// authors' program has it, or the other. Tangent vectors at the origin, t columns and then s, carry a representation from a
/// layer to the next. Nodes are classified by an affine map of these.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let operator = Arc::new(problem.affinity(reservation)?);
    let mut b = Builder::new(problem, reservation);
    let (mut x, mut curvature): (Source, _) = (b.input(options.dropout).into(), Layered::of(&options));
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let width = if last { curved::last_width(&options) } else { options.hidden };
        let time = time(problem, width)?;
        let z = b.linear(x, format!("{l}.weight"), width);
        let bias = b.parameter(format!("{l}.bias"), Axis::exact(1), b.axis(z), Initial::Zeros);
        // Without time there is no curvature in a layer.
        if time > 0 || (last && options.task == Task::LinkPrediction) {
            curvature.begin(&mut b, l);
        } else {
            curvature.without();
        }
        let z = if time > 0 {
            b.rows(
                PseudoHyperbolicBias(Translation::spherical(curvature.after(1), time)),
                &[z],
                &curvature.with(&[bias]),
                width,
            )
        } else {
            b.shift(z, bias)
        };
        let z = b.propagate(&operator, z);
        let h = b.relu(z);
        b.embedding(h);
        if last {
            let space = Space::single(Geometry::PseudoHyperboloid(time), width);
            return curved::finish(b, &options, h, space, &curvature, |b, h| {
                let h = b.dropout(h, options.dropout);
                Ok(b.affine(h, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
