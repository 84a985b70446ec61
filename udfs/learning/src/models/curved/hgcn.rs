//! Hyperbolic graph convolutional network (Chami et al. 2019, Eq. 6-11).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem, curved};
use crate::options::table::{CURVATURE, DIRECTION, GEODESIC, MANIFOLD, MEAN_AFFINITY, NO_YES, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::curved::{HyperbolicBias, Layered, LocalMean, Translation};
use crate::program::{Builder, Program, Source};

/// The registration: 2 layers of 16 as in the paper.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hgcn",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Chami, Ying, Re and Leskovec 2019, Hyperbolic graph convolutional neural networks",
    defaults: Defaults { hidden: 16, ..COMMON },
    own: &[
        MANIFOLD,
        CURVATURE,
        OptionSpec::choice(
            "attention",
            "false",
            NO_YES,
            "weights of neighbours. false: those of the affinity; true: a softmax of learned scores of both ends",
        ),
        MEAN_AFFINITY,
        OptionSpec::choice(
            "local",
            "false",
            NO_YES,
            "where neighbours are averaged. false: in the tangent space at the origin; true: in that at each node",
        ),
        DIRECTION,
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `x_i <- sigma(log_0 y_i)`, `y = AGG(W x + b)`: hyperbolic linear layers and averages, the activation in the tangent space
/// at the origin. A layer computes in space of its own curvature; since `log_0` of `exp_0` is the identity, tangent
/// vectors at the origin carry a representation from one to the next, and with averages at the origin curvature acts through
/// the biases. Nodes are classified by an affine map of `log_0`, pairs scored by their distance in the space of the last
/// layer.
///
/// The paper has attention; without it, its authors' program and their runs average over a node and its neighbours. Sums with
/// symmetric weights grow with the degree: in a tree a leaf is then nearer to other leaves than to the node that it hangs on,
/// and distances tell no pairs apart.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let manifold = curved::manifold(&options)?;
    let (attention, local) = (options.text("attention")? == "true", options.text("local")? == "true");
    let operator = Arc::new(match attention {
        true => problem.attention(reservation)?,
        false => problem.affinity(reservation)?,
    });
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let (last, mut curvature) = (options.layers - 1, Layered::of(&options));
    let mut l = 0;
    loop {
        let width = if l == last { curved::last_width(&options) } else { options.hidden };
        let z = b.linear(x, format!("{l}.weight"), width);
        let bias = b.parameter(format!("{l}.bias"), Axis::exact(1), b.axis(z), Initial::Zeros);
        curvature.begin(&mut b, l);
        let translation = Translation::hyperbolic(manifold, curvature.after(1), width);
        let moved = b.rows(HyperbolicBias(translation), &[z], &curvature.with(&[bias]), width);
        let mean = match (local, attention) {
            (false, false) => b.propagate(&operator, moved),
            (false, true) => b.pair_attention(&operator, moved, &l.to_string(), 1, LocalMean::SLOPE as f32, None)?,
            (true, _) => {
                let mut vector = |name: &str| {
                    let initial = Initial::glorot(width, 1);
                    b.parameter(format!("{l}.{name}"), Axis::exact(1), Axis::padded(1, width), initial)
                };
                let own = if attention { vec![vector("target"), vector("source")] } else { Vec::new() };
                let layer = LocalMean { manifold, curvature: curvature.after(own.len()), attention };
                b.neighbors(layer, &operator, &[moved], &curvature.with(&own), b.axis(moved))
            }
        };
        let h = b.relu(mean);
        b.embedding(h);
        if l == last {
            return curved::finish(b, &options, h, manifold.space(width), &curvature, |b, h| {
                let h = b.dropout(h, options.dropout);
                Ok(b.affine(h, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
