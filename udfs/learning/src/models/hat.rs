//! Hyperbolic graph attention network (Zhang, Wang, Shi, Jiang and Ye 2021, Eq. 5-13).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result, Tensor};

use crate::choices::Task;
use crate::error::BuildError;
use crate::kernels::attention::MAX_HEADS;
use crate::network::{Axis, Initial, Operator, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::composed::{Hop, Neighborwise};
use crate::program::{Builder, Program, Source};
use crate::spaces::hyperbolic::{self, Layered};
use crate::spaces::{Curvature, Manifold};
use crate::spec::{ModelSpec, reach};
use crate::table::{CURVATURE, GEODESIC};

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
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `sum_j a_ij log_0(g_j)` with the softmax `a_ij` of `-d(g_i, g_j)` over the neighbours and the node itself.
#[derive(Debug)]
struct Attend {
    heads: usize,
    curvature: Curvature,
}

impl Neighborwise for Attend {
    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> Result<Tensor> {
        let (manifold, v) = (Manifold::Ball, &x[0]);
        let c = self.curvature.size(w, v)?;
        let width = v.dims2()?.1 / self.heads;
        let mut square = None;
        for head in 0..self.heads {
            let points = manifold.exp0(&v.narrow(1, head * width, width)?.contiguous()?, &c)?;
            let part = manifold.square_distance(&hop.target(&points)?, &hop.source(&points)?, &c)?;
            square = Some(match square {
                None => part,
                Some(sum) => (sum + part)?,
            });
        }
        let Some(square) = square else { candle_core::bail!("attention has heads") };
        // No root of 0, which has no slope.
        let scores = (square + 1e-15)?.sqrt()?.neg()?;
        hop.sum(&hop.source(v)?.broadcast_mul(&hop.softmax(&scores)?)?)
    }
}

/// `h_i <- exp_0(relu(sum_j a_ij log_0(g_j) + b))`, `g_j = exp_0(W log_0(h_j))`, in the Poincare ball; the score of a
/// neighbour is its negative distance, without a learned vector. Tangent vectors at the origin carry a representation from
/// a layer to the next. Nodes are classified by an affine map of these.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> std::result::Result<Program, BuildError> {
    let options = problem.options;
    let heads = options.integer("heads")? as usize;
    let operator = Arc::new(Operator::attention(&problem.graph, reservation)?);
    let classes = options.task == Task::NodeClassification;
    let mut b = Builder::new(problem, reservation);
    let (mut x, mut curvature): (Source, _) = (b.input(options.dropout).into(), Layered::of(options));
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let heads = if last && !classes { 1 } else { heads };
        let width = if last { hyperbolic::last_width(options) } else { options.hidden };
        let (rows, columns) = (b.source_axis(x), Axis::padded(heads, width));
        let weights = b.parameter(format!("{l}.weight"), rows, columns, Initial::glorot(rows.len(), columns.len()));
        let z = b.linear_with(x, weights);
        curvature.begin(&mut b, l);
        let layer = Attend { heads, curvature: curvature.after(0) };
        let z = b.neighbors(layer, &operator, &[z], &curvature.with(&[]), columns);
        let z = b.bias(z, format!("{l}.bias"));
        let h = b.relu(z);
        b.embedding(h);
        if last {
            return hyperbolic::finish(b, h, Manifold::Ball.power(width, heads), &curvature, |b, h| {
                let h = b.dropout(h, options.dropout);
                Ok(b.affine(h, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
