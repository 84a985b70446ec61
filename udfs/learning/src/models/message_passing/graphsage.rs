//! GraphSAGE with the mean aggregator, full batch (Hamilton, Ying and Leskovec 2017, Algorithm 1).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, OptionSpec, Task};
use crate::program::{Builder, Program, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "graphsage",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Hamilton, Ying and Leskovec 2017, Inductive representation learning on large graphs",
    defaults: COMMON,
    own: &[
        OptionSpec::choice("aggregator", "mean", &["mean"], "how the neighbours' representations are joined"),
        DIRECTION,
        WEIGHTS,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `H_l = relu(M H' V_l + H' U_l + b_l)` with `H' = dropout(H_{l-1})` and the mean over the neighbours `M = D^-1 A` (zero
/// for a node without any), the last layer without relu; no normalisation of the rows of H. A layer's two matrices stand
/// side by side, `[V | U]`: one product, then the messages carry the narrow result. All parameters start uniform within
/// 1 / sqrt(inputs), as linear layers of PyTorch.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, widths) = (problem.options, problem.widths());
    let operator = Arc::new(Operator::mean(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let layer = |b: &mut Builder<'_, '_>, x: Source, l: usize| {
        let (rows, width) = (widths[l], widths[l + 1].len());
        let initial = Initial::linear(rows.len());
        let weights = b.parameter(format!("{l}.weight"), rows, Axis::padded(2, width), initial.clone());
        let z = b.linear_with(x, weights);
        let z = b.propagate_beside(&operator, z, width);
        b.bias_from(z, format!("{l}.bias"), initial)
    };
    for l in 1..options.layers {
        let z = layer(&mut b, x, l - 1);
        let h = b.relu(z);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let z = layer(&mut b, x, options.layers - 1);
    Ok(b.finish(z)?)
}
