//! Hyperbolic graph convolutional network (Chami et al. 2019, Eq. 6-11).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result, Tensor};

use crate::choices::Task;
use crate::error::BuildError;
use crate::network::{Axis, Hop, Initial, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::composed::Neighborwise;
use crate::program::layers::expression::Rowwise;
use crate::program::layers::row_kernel::RowKernel;
use crate::program::{Builder, Program, Source};
use crate::spaces::hyperbolic::{self, Layered};
use crate::spaces::{Curvature, Manifold, Translation};
use crate::spec::{ModelSpec, reach};
use crate::table::{CURVATURE, DIRECTION, GEODESIC, MANIFOLD, MEAN_AFFINITY, NO_YES, WEIGHTS};

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

/// The slope of scores below 0.
const SLOPE: f64 = 0.2;

/// `log_0(exp_0(z) + exp_0(b))`: the bias of a hyperbolic linear layer (Eq. 7), between tangent vectors at the origin.
#[derive(Debug)]
struct Bias(Translation);

impl Rowwise for Bias {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (Self(Translation { manifold, curvature, .. }), z) = (self, &x[0]);
        let c = curvature.size(w, z)?;
        manifold.log0(&manifold.translate(&manifold.exp0(z, &c)?, &w[0], &c)?, &c)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(&self.0)
    }
}

/// `log_0(exp_i(sum_j w_ij log_i(h_j)))` (Eq. 9) of tangent vectors at the origin.
#[derive(Debug)]
struct Local {
    manifold: Manifold,
    curvature: Curvature,
    attention: bool,
}

impl Neighborwise for Local {
    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> Result<Tensor> {
        let (m, v) = (self.manifold, &x[0]);
        let c = self.curvature.size(w, v)?;
        let weights = match self.attention {
            false => hop.values(v)?,
            true => {
                let of = |vector: &Tensor| v.matmul(&vector.t()?.contiguous()?);
                let scores = (hop.target(&of(&w[0])?)? + hop.source(&of(&w[1])?)?)?;
                hop.softmax(&(scores.relu()? - (scores.neg()?.relu()? * SLOPE)?)?)?
            }
        };
        let points = m.exp0(v, &c)?;
        let ways = m.log(&hop.target(&points)?, &hop.source(&points)?, &c)?;
        let mean = hop.sum(&ways.broadcast_mul(&weights)?)?;
        m.log0(&m.exp(&hop.own(&points)?, &mean, &c)?, &c)
    }
}

/// `x_i <- sigma(log_0 y_i)`, `y = AGG(W x + b)`: hyperbolic linear layers and averages, the activation in the tangent space
/// at the origin. A layer computes in space of its own curvature; since `log_0` of `exp_0` is the identity, tangent
/// vectors at the origin carry a representation from one to the next, and with averages at the origin curvature acts through
/// the biases. Nodes are classified by an affine map of `log_0`, pairs scored by their distance in the space of the last
/// layer.
///
/// The paper has attention; without it, its authors' program and their runs average over a node and its neighbours. Sums with
/// symmetric weights grow with the degree: in a tree a leaf is then nearer to other leaves than to the node that it hangs on,
/// and distances tell no pairs apart.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> std::result::Result<Program, BuildError> {
    let options = problem.options;
    let manifold = Manifold::of(options)?;
    let (attention, local) = (options.text("attention")? == "true", options.text("local")? == "true");
    let operator = Arc::new(match attention {
        true => problem.attention(reservation)?,
        false => problem.affinity(reservation)?,
    });
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let (last, mut curvature) = (options.layers - 1, Layered::of(options));
    let mut l = 0;
    loop {
        let width = if l == last { hyperbolic::last_width(options) } else { options.hidden };
        let z = b.linear(x, format!("{l}.weight"), width);
        let bias = b.parameter(format!("{l}.bias"), Axis::exact(1), b.axis(z), Initial::Zeros);
        curvature.begin(&mut b, l);
        let translation = Translation::hyperbolic(manifold, curvature.after(1), width);
        let moved = b.rows(Bias(translation), &[z], &curvature.with(&[bias]), width);
        let mean = match (local, attention) {
            (false, false) => b.propagate(&operator, moved),
            (false, true) => b.pair_attention(&operator, moved, &l.to_string(), 1, SLOPE as f32, None)?,
            (true, _) => {
                let mut vector = |name: &str| {
                    let initial = Initial::glorot(width, 1);
                    b.parameter(format!("{l}.{name}"), Axis::exact(1), Axis::padded(1, width), initial)
                };
                let own = if attention { vec![vector("target"), vector("source")] } else { Vec::new() };
                let layer = Local { manifold, curvature: curvature.after(own.len()), attention };
                b.neighbors(layer, &operator, &[moved], &curvature.with(&own), b.axis(moved))
            }
        };
        let h = b.relu(mean);
        b.embedding(h);
        if l == last {
            return hyperbolic::finish(b, h, manifold.space(width), &curvature, |b, h| {
                let h = b.dropout(h, options.dropout);
                Ok(b.affine(h, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::row_kernels::{check, normal};

    #[test]
    fn biases_move_points_near_and_far_as_their_definition_does() {
        for manifold in [Manifold::Ball, Manifold::Hyperboloid] {
            for length in [0.0, 1e-9, 0.1, 1.0, 2.5] {
                let learned = Bias(Translation::hyperbolic(manifold, Curvature::Learned(1), 4));
                let (z, b) = (normal(20, length, 1), normal(4, 0.5, 2));
                check(&learned, 5, std::slice::from_ref(&z), &[(1, b.clone()), (1, vec![0.3])]);
                let fixed = Bias(Translation::hyperbolic(manifold, Curvature::Fixed(1e-6), 4));
                check(&fixed, 5, &[z], &[(1, b)]);
            }
        }
    }
}
