//! One linear layer on the node features: the graph-agnostic counterpart of one-hop SGC.

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::spec::{FEATURES_ALONE, reach};
use crate::models::{ModelSpec, Problem};
use crate::options::{COMMON, Defaults, Task};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mlp1",
    family: FEATURES_ALONE,
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Cox 1958, The regression analysis of binary sequences; MLP-1 of Luan et al. 2024",
    defaults: Defaults { layers: 1, ..COMMON },
    own: &[],
    reach: reach::LOCAL,
    build,
};

/// `Z = dropout(X) W + b`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    problem.expect_layers(1)?;
    let mut b = Builder::new(problem, reservation);
    let x = b.input(problem.options.dropout);
    let z = b.affine(x, "0", problem.n_outputs);
    Ok(b.finish(z)?)
}
