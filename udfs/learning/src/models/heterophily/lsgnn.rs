//! Local similarity graph neural network (Chen et al. 2023, Eq. 1-9).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::data::features;
use crate::ground::{BuildError, Initial};
use crate::kernels::edge::Similarity;
use crate::kernels::elementwise::Activation;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::{Builder, Program, Slot};

/// The registration: the authors' setting for Cora.
pub const SPEC: ModelSpec = ModelSpec {
    name: "lsgnn",
    family: "heterophily",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Chen, Luo, Tang, Yang, Qiu, Wang and Cao 2023, LSGNN: towards general graph neural network in node \
             classification by local similarity",
    defaults: Defaults { weight_decay: 0.0, hidden: 16, dropout: 0.9, ..COMMON },
    own: &[
        OptionSpec::integer("hops", 5, [1, 32], "number of propagations of either filter"),
        OptionSpec::real(
            "beta",
            1.0,
            [0.0, f64::INFINITY],
            "the node's own weight in the low-pass filter; 1 - beta in the high-pass filter",
        ),
        OptionSpec::real(
            "gamma",
            0.7,
            [0.0, 1.0],
            "what is taken off of the hops before; 1 - gamma of the features is added",
        ),
        OptionSpec::choice(
            "similarity",
            "distance",
            &["distance", "cosine"],
            "how alike the features of two neighbours are: Euclidean distance, or cosine",
        ),
        WEIGHTS,
    ],
    // Similarities are those of neighbours, whatever the hops.
    reach: reach::HOPS,
    build,
};

/// With the features' rows scaled to length 1 (`X`), filters `F_L = beta I + S` and `F_H = (1 - beta) I - S`,
/// `S = D^-1/2 A D^-1/2` without loops, `Z_k = F ((1 - gamma) X - gamma (Z_1 + ... + Z_{k-1}))`, `Z_1 = F X`, and
/// `r(Z) = relu(n(Z W))` with weights of each `Z` and rows scaled to length 1 by `n`: the output is
/// `dropout([n(r(X)) | n(a_1I r(X) + a_1L r(Z_L1) + a_1H r(Z_H1)) | ...]) W + b`.
///
/// A node's weights `a` are a small network of `[phi, phi^2]`, where `phi` is its local similarity: the mean over its
/// neighbours of another small network of `[x, x^2]`, `x` the similarity of the two. Hidden units are `x sigmoid(x)`.
/// Weights are those of `S`; means of similarities are unweighted.
/// Narrow rows are propagated: `Z_k W` is the same recursion on `X W`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, graph) = (problem.options, &problem.graph);
    problem.expect_layers(2)?;
    let (hops, beta, gamma) = (options.integer("hops")? as usize, options.real("beta")?, options.real("gamma")?);
    let similarity = match options.text("similarity")? {
        "cosine" => Similarity::Cosine,
        _ => Similarity::UnitDistance,
    };
    let edges = Arc::new(Operator::edges(graph, reservation)?);
    let operator = Arc::new(Operator::symmetric_without_loops(graph, reservation)?);
    reservation.grow(problem.features.bytes())?;
    let unit = Arc::new(features::unit_rows(&problem.features));
    let mut b = Builder::new(problem, reservation);
    b.initial(|inputs, _| Initial::linear(inputs));

    let phi = b.local_similarity(&edges, similarity, "similarity", options.hidden)?;
    let square = b.product(phi, phi);
    let pair = b.concat(&[phi, square]);
    let z = b.affine(pair, "fusion", options.hidden);
    let logistic = b.activation(z, Activation::Sigmoid);
    let units = b.product(z, logistic);

    b.initial(Initial::glorot);
    let x = b.features(unit, 0.0);
    let raw = b.linear(x, "0.weight", options.hidden);
    let raw = reduced(&mut b, raw);
    let mut parts = vec![b.unit_rows(raw)];
    for k in 1..=hops {
        let [low, high] = [("low", 1.0, beta), ("high", -1.0, 1.0 - beta)].map(|(name, scale, own)| {
            let x = b.linear(x, format!("{k}.{name}.weight"), options.hidden);
            let filter = |b: &mut Builder<'_, '_>, z| b.propagate_plus(&operator, scale, z, own, z);
            channel(&mut b, x, k, gamma, filter)
        });
        b.initial(|inputs, _| Initial::linear(inputs));
        let weights = b.affine(units, &format!("fusion.{k}"), 3);
        b.initial(Initial::glorot);
        let fused = b.mix_rows(&[raw, low, high], weights);
        parts.push(b.unit_rows(fused));
    }
    let h = b.concat(&parts);
    b.embedding(h);
    let h = b.dropout(h, options.dropout);
    b.initial(|inputs, _| Initial::linear(inputs));
    let z = b.affine(h, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}

/// `relu(n(Z W))`.
fn reduced(b: &mut Builder<'_, '_>, z: Slot) -> Slot {
    let z = b.unit_rows(z);
    b.relu(z)
}

/// `r(Z_k)` of a filter, from `X W`.
fn channel(
    b: &mut Builder<'_, '_>,
    x: Slot,
    k: usize,
    gamma: f64,
    filter: impl Fn(&mut Builder<'_, '_>, Slot) -> Slot,
) -> Slot {
    let mut z = filter(b, x);
    // (1 - gamma) X - gamma (Z_1 + ... + Z_j), carried along.
    let mut rest = x;
    for step in 1..k {
        let own = if step == 1 { 1.0 - gamma } else { 1.0 };
        rest = b.sum(&[(rest, own), (z, -gamma)]);
        z = filter(b, rest);
    }
    reduced(b, z)
}
