//! Multi-layer perceptron on the node features: no messages.

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::spec::{FEATURES_ALONE, reach};
use crate::models::{ModelSpec, Problem};
use crate::options::{COMMON, Task};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mlp",
    family: FEATURES_ALONE,
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Rumelhart, Hinton and Williams 1986, Learning representations by back-propagating errors",
    defaults: COMMON,
    own: &[],
    reach: reach::LOCAL,
    build,
};

/// `H_l = relu(dropout(H_{l-1}) W_l + b_l)`, the last layer without relu. Weights start as Glorot and Bengio's, biases at 0.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let z = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    Ok(b.finish(z)?)
}
