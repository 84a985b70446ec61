//! Frequency adaptation graph convolutional network (Bo et al. 2021, Eq. 5-7).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{BuildError, Initial};
use crate::kernels::edge::Gate;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::edges::gated_sum::Gates;
use crate::program::{Builder, Program};

/// The registration: the paper's 32 hidden units, two layers.
pub const SPEC: ModelSpec = ModelSpec {
    name: "fagcn",
    family: "heterophily",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Bo, Wang, Shi and Shen 2021, Beyond low-frequency information in graph convolutional networks",
    defaults: Defaults { epochs: 500, hidden: 32, ..COMMON },
    own: &[
        OptionSpec::real("epsilon", 0.3, [0.0, f64::INFINITY], "weight of the first representation in every layer"),
        DIRECTION,
        WEIGHTS,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `H_0 = relu(X W_1 + b_1)`, `h_i <- epsilon h0_i + sum over the neighbours j of alpha_ij / sqrt(d_i d_j) h_j` with
/// `alpha_ij = tanh(g' [h_i, h_j])` in (-1, 1): an edge may bring near or push apart. With weights `alpha_ij` is multiplied by
/// that of the edge, and d is the sum of them; a node without incoming arcs sends no messages. No loops. Then
/// `Z = H_L W_2 + b_2`. Dropout before both linear layers' inputs and on the edges' weights; weights start with the gain
/// sqrt(2) of the authors.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, graph) = (problem.options, &problem.graph);
    let (epsilon, p) = (options.real("epsilon")?, options.dropout);
    graph.expect_positive()?;
    let edges = Arc::new(Operator::edges(graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    b.initial(|inputs, outputs| Initial::Uniform((12.0 / (inputs + outputs).max(1) as f64).sqrt()));
    let x = b.input(p);
    let h = b.affine(x, "input", options.hidden);
    let h = b.relu(h);
    let first = b.dropout(h, p);
    let mut h = first;
    for layer in 0..options.layers {
        // One vector g of 2 * hidden inputs, in two halves.
        b.initial(|inputs, _| Initial::Uniform((12.0 / (2 * inputs + 1) as f64).sqrt()));
        let target = b.linear(h, format!("{layer}.target"), 1);
        let source = b.linear(h, format!("{layer}.source"), 1);
        let gates = Gates { gate: Gate::Tanh, dropout: p, loss: None };
        let norm = |i, j| match (graph.weight(i, j), graph.strength(i) * graph.strength(j)) {
            (0.0, _) | (_, 0.0) => 0.0,
            (weight, product) => (graph.scale(i) * weight / product.sqrt()) as f32,
        };
        let sum = b.gated_sum(&edges, norm, gates, [target, source, h])?;
        h = b.sum(&[(first, epsilon), (sum, 1.0)]);
    }
    b.embedding(h);
    b.initial(|inputs, outputs| Initial::Uniform((12.0 / (inputs + outputs).max(1) as f64).sqrt()));
    let z = b.affine(h, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}
