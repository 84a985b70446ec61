//! Generalised PageRank with learnt weights (Chien et al. 2021, Eq. 1).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, OptionSpec, Task, up_to};
use crate::program::layers::propagation::polynomial::pagerank;
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gprgnn",
    family: "decoupled propagation",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Chien, Peng, Li and Milenkovic 2021, Adaptive universal generalized PageRank graph neural network",
    defaults: COMMON,
    own: &[
        DIRECTION,
        WEIGHTS,
        OptionSpec::real(
            "alpha",
            0.1,
            [0.0, up_to(1.0)],
            "teleport probability of the personalised PageRank with whose weights the filter starts",
        ),
        OptionSpec::integer("hops", 10, [1, 64], "number of propagations"),
    ],
    reach: reach::HOPS,
    build,
};

/// `Z = sum over k of gamma_k S^k MLP(X)` with learnt gamma, `S = D^-1/2 (A + I) D^-1/2`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let (alpha, hops) = (options.real("alpha")?, options.integer("hops")? as usize);
    let operator = Arc::new(Operator::symmetric(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let h = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    // The original drops entries of the predictions once more before the propagation.
    let h = b.dropout(h, options.dropout);
    let start = Initial::Values(pagerank(alpha, hops).into());
    let gamma = b.parameter("gamma", Axis::exact(1), Axis::exact(hops + 1), start);
    let z = b.learned_polynomial(&operator, h, gamma, hops)?;
    Ok(b.finish(z)?)
}
