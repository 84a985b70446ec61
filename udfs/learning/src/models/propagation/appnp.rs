//! Approximate personalised propagation of neural predictions (Gasteiger et al. 2019, Eq. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::options::table::{AFFINITY, DIRECTION, WEIGHTS};
use crate::options::{COMMON, OptionSpec, Task, up_to};
use crate::program::layers::propagation::polynomial::pagerank;
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "appnp",
    family: "decoupled propagation",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Gasteiger, Bojchevski and Günnemann 2019, Predict then propagate: graph neural networks meet personalized PageRank",
    defaults: COMMON,
    own: &[
        DIRECTION,
        WEIGHTS,
        OptionSpec::real("alpha", 0.1, [0.0, up_to(1.0)], "teleport probability"),
        OptionSpec::integer("hops", 10, [1, 64], "number of propagations"),
        AFFINITY,
    ],
    reach: reach::HOPS,
    build,
};

/// `H = MLP(X)`; `Z_0 = H`, `Z_k = (1 - alpha) S Z_{k-1} + alpha H` with `S = D^-1/2 (A + I) D^-1/2`, or the affinity that
/// is asked for: a polynomial of `S`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let alpha = options.real("alpha")?;
    let operator = Arc::new(problem.affinity(reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let h = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    let hops = options.integer("hops")? as usize;
    let z = b.polynomial(&operator, h, &pagerank(alpha, hops))?;
    Ok(b.finish(z)?)
}
