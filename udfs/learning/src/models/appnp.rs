//! Approximate personalised propagation of neural predictions (Gasteiger et al. 2019, Eq. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;

use super::gprgnn::pagerank;
use super::{BuildError, Model, Operator, Problem};
use crate::program::Builder;
use crate::registry::{AFFINITY, COMMON, Hyperparameter, Kind, ModelSpec, reach, up_to};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "appnp",
    family: "decoupled propagation",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Gasteiger, Bojchevski and Günnemann 2019, Predict then propagate: graph neural networks meet personalized PageRank",
    defaults: COMMON,
    own: &[
        Hyperparameter {
            name: "alpha",
            kind: Kind::Real { default: 0.1, min: 0.0, max: up_to(1.0) },
            description: "teleport probability",
        },
        Hyperparameter {
            name: "hops",
            kind: Kind::Integer { default: 10, min: 1, max: 64 },
            description: "number of propagations",
        },
        AFFINITY,
    ],
    reach: reach::HOPS,
    build: |problem, reservation| build(problem, reservation),
};

/// `H = MLP(X)`; `Z_0 = H`, `Z_k = (1 - alpha) S Z_{k-1} + alpha H` with `S = D^-1/2 (A + I) D^-1/2`, or the affinity that
/// is asked for: a polynomial of `S`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    let options = problem.options;
    let alpha = options.real("alpha")?;
    let operator = Arc::new(Operator::affinity(problem, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let h = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    let hops = options.integer("hops")? as usize;
    let mut z = h;
    if problem.device {
        for _ in 0..hops {
            z = b.propagate_plus(&operator, 1.0 - alpha, z, alpha, h);
        }
    } else {
        z = b.polynomial(&operator, h, &pagerank(alpha, hops))?;
    }
    Ok(Box::new(b.finish(z)?))
}
