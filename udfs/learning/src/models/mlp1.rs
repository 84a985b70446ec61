//! One linear layer on the node features: the graph-agnostic counterpart of one-hop SGC.

use bonnet_graph::Reservation;

use super::{BuildError, Model, Problem, exactly};
use crate::program::Builder;
use crate::registry::{COMMON, Defaults, ModelSpec, reach};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mlp1",
    family: "feature-only",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Cox 1958, The regression analysis of binary sequences; MLP-1 of Luan et al. 2024",
    defaults: Defaults { layers: 1, ..COMMON },
    own: &[],
    reach: reach::LOCAL,
    build: |problem, reservation| build(problem, reservation),
};

/// `Z = dropout(X) W + b`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    exactly(1, problem)?;
    let mut b = Builder::new(problem, reservation);
    let x = b.input(problem.options.dropout);
    let z = b.affine(x, "0", problem.n_outputs);
    Ok(Box::new(b.finish(z)?))
}
