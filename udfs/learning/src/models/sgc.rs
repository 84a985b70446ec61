//! Simple graph convolution (Wu et al. 2019, Eq. 8).

use std::sync::Arc;

use bonnet_graph::Reservation;

use super::{BuildError, Model, Operator, Problem, exactly};
use crate::program::Builder;
use crate::registry::{AFFINITY, COMMON, Defaults, Hyperparameter, Kind, ModelSpec, reach};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "sgc",
    family: "message passing",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Wu, Zhang, de Souza, Fifty, Yu and Weinberger 2019, Simplifying graph convolutional networks",
    // The paper: Adam with rate 0.2, 100 epochs, weight decay tuned on each set, no dropout.
    defaults: Defaults { epochs: 100, lr: 0.2, weight_decay: 5e-5, layers: 1, dropout: 0.0, ..COMMON },
    own: &[
        Hyperparameter {
            name: "hops",
            kind: Kind::Integer { default: 2, min: 1, max: 64 },
            description: "number of propagations",
        },
        AFFINITY,
    ],
    reach: reach::HOPS,
    build: |problem, reservation| build(problem, reservation),
};

/// `Z = S^K dropout(X) W + b` with `S = D^-1/2 (A + I) D^-1/2`, or the affinity that is asked for. The weights come first, so that narrow rows travel.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    exactly(1, problem)?;
    let operator = Arc::new(Operator::affinity(problem, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(problem.options.dropout);
    let mut z = b.linear(x, "0.weight", problem.n_outputs);
    for _ in 0..problem.options.integer("hops")? {
        z = b.propagate(&operator, z);
    }
    let z = b.bias(z, "0.bias");
    Ok(Box::new(b.finish(z)?))
}
