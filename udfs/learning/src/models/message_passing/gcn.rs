//! Graph convolutional network (Kipf and Welling 2017, Eq. 2 and 9).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::options::table::{AFFINITY, DIRECTION, WEIGHTS};
use crate::options::{COMMON, Task};
use crate::program::{Builder, Program, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gcn",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Kipf and Welling 2017, Semi-supervised classification with graph convolutional networks",
    defaults: COMMON,
    own: &[AFFINITY, DIRECTION, WEIGHTS],
    reach: reach::A_LAYER,
    build,
};

/// `H_l = relu(A dropout(H_{l-1}) W_l + b_l)` with the renormalised adjacency `A = D^-1/2 (A + I) D^-1/2`, or the
/// other `affinity`, the last layer without relu. Weights start as Glorot and Bengio's, biases at 0.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let operator = Arc::new(problem.affinity(reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    for l in 1..options.layers {
        let z = b.linear(x, format!("{}.weight", l - 1), options.hidden);
        let z = b.propagate(&operator, z);
        let h = b.bias(z, format!("{}.bias", l - 1));
        let h = b.relu(h);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let last = options.layers - 1;
    let z = b.linear(x, format!("{last}.weight"), problem.n_outputs);
    let z = b.propagate(&operator, z);
    let z = b.bias(z, format!("{last}.bias"));
    Ok(b.finish(z)?)
}
