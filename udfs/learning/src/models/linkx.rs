//! LINKX (Lim et al. 2021, Eq. 5 to 7): features and adjacency rows, each through a perceptron of its own.

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::choices::Task;
use crate::error::{BuildError, OptionError};
use crate::features::{self, Features, SparseRows};
use crate::network::Problem;
use crate::option_spec::{COMMON, OptionSpec};
use crate::program::{Builder, Program, Slot, Source};
use crate::spec::ModelSpec;
use crate::table::{ADJACENCY, WEIGHTS};

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
    let adjacency = adjacency(problem, reservation)?;
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
fn perceptron(b: &mut Builder<'_, '_, '_>, name: &str, x: Source, layers: usize, hidden: usize, p: f64) -> Slot {
    let mut z = b.affine(x, &format!("{name}.0"), hidden);
    for l in 1..layers {
        z = b.relu(z);
        z = b.dropout(z, p);
        z = b.affine(z, &format!("{name}.{l}"), hidden);
    }
    z
}

/// The rows of A as features: of each node the neighbours, or the heads of its arcs, with the weights of these.
fn adjacency(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Features, BuildError> {
    let (graph, n) = (&problem.graph, problem.graph.n_nodes());
    let (offsets, targets, values) = match problem.options.reads_arcs() {
        false => {
            reservation.grow(features::adjacency_bytes(graph.whole()?))?;
            return Ok(features::adjacency(graph));
        }
        true => {
            let arcs = problem.arcs.as_ref().ok_or_else(|| {
                OptionError::invalid("adjacency", "arcs", "edges: arcs are known to node_classification alone")
            })?;
            reservation.grow((n + 1) * size_of::<usize>() + 8 * arcs.n_arcs())?;
            let mut offsets = Vec::with_capacity(n + 1);
            offsets.push(0);
            offsets.extend((0..n as u32).scan(0, |end, v| {
                *end += arcs.successors(v).len();
                Some(*end)
            }));
            // Messages along arcs are the rows of their heads.
            let values = arcs.arcs().map(|(from, to)| graph.weight(to, from) as f32).collect();
            (offsets, arcs.arcs().map(|(_, to)| to).collect(), values)
        }
    };
    let rows = SparseRows::new(n, offsets, targets, values);
    // A graph's rows are well formed.
    Ok(Features::Sparse(rows.map_err(|error| OptionError::invalid("model", "linkx", &error.to_string()))?))
}
