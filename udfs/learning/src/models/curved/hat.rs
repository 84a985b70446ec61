//! Hyperbolic graph attention network (Zhang, Wang, Shi, Jiang and Ye 2021, Eq. 5-13).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::attention::MAX_HEADS;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem, curved};
use crate::network::Operator;
use crate::options::table::{CURVATURE, DIRECTION, GEODESIC};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::curved::{BallAttention, Layered};
use crate::program::{Builder, Program, Source};
use crate::spaces::Manifold;

/// The registration: 8 heads of 8 as in the paper.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hat",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Zhang, Wang, Shi, Jiang and Ye 2021, Hyperbolic graph attention network",
    defaults: Defaults { lr: 0.005, hidden: 8, dropout: 0.6, ..COMMON },
    own: &[
        OptionSpec::integer(
            "heads",
            8,
            [1, MAX_HEADS as i64],
            "factors of the space, of the width hidden each, whose squared distances add up to that of the score; in link \
             and graph tasks the last layer has one",
        ),
        CURVATURE,
        DIRECTION,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `h_i <- exp_0(relu(sum_j a_ij log_0(g_j) + b))`, `g_j = exp_0(W log_0(h_j))`, in the Poincare ball; the score of a
/// neighbour is its negative distance, without a learned vector. Tangent vectors at the origin carry a representation from
/// a layer to the next. Nodes are classified by an affine map of these.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let heads = options.integer("heads")? as usize;
    let operator = Arc::new(Operator::attention(&problem.graph, reservation)?);
    let decoded = options.task.is_of_nodes();
    let mut b = Builder::new(problem, reservation);
    let (mut x, mut curvature): (Source, _) = (b.input(options.dropout).into(), Layered::of(&options));
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let heads = if last && !decoded { 1 } else { heads };
        let width = if last { curved::last_width(&options) } else { options.hidden };
        let (rows, columns) = (b.source_axis(x), Axis::padded(heads, width));
        let weights = b.parameter(format!("{l}.weight"), rows, columns, Initial::glorot(rows.len(), columns.len()));
        let z = b.linear_with(x, weights);
        curvature.begin(&mut b, l);
        let layer = BallAttention { heads, curvature: curvature.after(0) };
        let z = b.neighbors(layer, &operator, &[z], &curvature.with(&[]), columns);
        let z = b.bias(z, format!("{l}.bias"));
        let h = b.relu(z);
        b.embedding(h);
        if last {
            return curved::finish(b, &options, h, Manifold::Ball.power(width, heads), &curvature, |b, h| {
                let h = b.dropout(h, options.dropout);
                Ok(b.affine(h, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
