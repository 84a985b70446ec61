//! Simple graph convolution (Wu et al. 2019, Eq. 8).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::options::table::{AFFINITY, DIRECTION, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "sgc",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Wu, Zhang, de Souza, Fifty, Yu and Weinberger 2019, Simplifying graph convolutional networks",
    // The paper: Adam with rate 0.2, 100 epochs, weight decay tuned on each set, no dropout.
    defaults: Defaults { epochs: 100, lr: 0.2, weight_decay: 5e-5, layers: 1, dropout: 0.0, ..COMMON },
    own: &[OptionSpec::integer("hops", 2, [1, 64], "number of propagations"), AFFINITY, DIRECTION, WEIGHTS],
    reach: reach::HOPS,
    build,
};

/// `Z = S^K dropout(X) W + b` with `S = D^-1/2 (A + I) D^-1/2`, or the other `affinity`. The weights are applied first, so that narrow rows are propagated.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    problem.expect_layers(1)?;
    let operator = Arc::new(problem.affinity(reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(problem.options.dropout);
    let mut z = b.linear(x, "0.weight", problem.n_outputs);
    for _ in 0..problem.options.integer("hops")? {
        z = b.propagate(&operator, z);
    }
    let z = b.bias(z, "0.bias");
    Ok(b.finish(z)?)
}
