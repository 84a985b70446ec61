//! LINKX (Lim et al. 2021, Eq. 5 to 7): features and adjacency rows, each through a perceptron of its own.

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::{ModelSpec, Problem};
use crate::options::table::{ADJACENCY, WEIGHTS};
use crate::options::{COMMON, OptionSpec, Task};
use crate::program::{Builder, Program, Slot, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "linkx",
    family: "heterophily",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Lim, Hohne, Li, Huang, Gupta, Bhalerao and Lim 2021, Large scale learning on non-homophilous graphs: new benchmarks and strong simple methods",
    defaults: COMMON,
    own: &[
        OptionSpec::integer(
            "input_layers",
            1,
            [1, 8],
            "number of layers of the perceptrons of the adjacency and of the features",
        ),
        ADJACENCY,
        WEIGHTS,
    ],
    reach: None,
    build,
};

/// `Z = MLP_f(dropout(relu(W [H_A | H_X] + H_A + H_X)))`, `H_A = MLP_A(A)`, `H_X = MLP_X(X)`; `layers` counts those of
/// `MLP_f`. A row of the adjacency is an input like any other: sparse times weights, so a graph without the nodes that
/// were trained on has no meaning to the parameters. No batch normalisation.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let layers = options.integer("input_layers")? as usize;
    let adjacency = problem.adjacency_rows(reservation)?;
    let mut b = Builder::new(problem, reservation);
    let (a, x) = (b.features(Arc::new(adjacency), 0.0), b.input(0.0));
    let h_a = perceptron(&mut b, "adjacency", a.into(), layers, options.hidden, options.dropout);
    let h_x = perceptron(&mut b, "features", x.into(), layers, options.hidden, options.dropout);
    let both = b.concat(&[h_a, h_x]);
    let both = b.affine(both, "join", options.hidden);
    let h = b.sum(&[(both, 1.0), (h_a, 1.0), (h_x, 1.0)]);
    let h = b.relu(h);
    b.embedding(h);
    let h = b.dropout(h, options.dropout);
    let z = b.perceptron(h, options.layers, options.hidden, problem.n_outputs, options.dropout);
    Ok(b.finish(z)?)
}

/// Layers of one width, named `{name}.{l}`, relu and dropout between them.
fn perceptron(b: &mut Builder<'_, '_>, name: &str, x: Source, layers: usize, hidden: usize, p: f64) -> Slot {
    let mut z = b.affine(x, &format!("{name}.0"), hidden);
    for l in 1..layers {
        z = b.relu(z);
        z = b.dropout(z, p);
        z = b.affine(z, &format!("{name}.{l}"), hidden);
    }
    z
}
