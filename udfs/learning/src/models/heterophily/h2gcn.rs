//! H2GCN (Zhu et al. 2020, Eq. 5 to 7).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{BuildError, OptionError};
use crate::models::{ModelSpec, Problem};
use crate::network::{Operator, second_ring};
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, Task};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "h2gcn",
    family: "heterophily",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Zhu, Yan, Zhao, Heimann, Akoglu and Koutra 2020, Beyond homophily in graph neural networks: current limitations and effective designs",
    defaults: COMMON,
    own: &[WEIGHTS],
    reach: None,
    build,
};

/// Rounds double the width.
const MOST_ROUNDS: usize = 6;

/// `R_0 = relu(X W_e)`; round k is `R_k = [S_1 R_{k-1} | S_2 R_{k-1}]`, where `S_1` and `S_2` are the normalised
/// adjacencies of the nodes at distance exactly 1 and exactly 2, without the node itself (weights are those of `S_1`: no edge
/// joins nodes at distance 2, all of weight 1); then
/// `Z = dropout([R_0 | R_1 | ... | R_K]) W_c`. The number of rounds K is `layers`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    if options.layers > MOST_ROUNDS {
        let valid = format!("an integer in [1, {MOST_ROUNDS}]: each round of h2gcn doubles the width");
        return Err(OptionError::invalid("layers", options.layers, &valid).into());
    }
    let one = Arc::new(Operator::symmetric_without_loops(&problem.graph, reservation)?);
    let two = Arc::new(second_ring(problem.graph.whole()?, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let r = b.linear(x, "embed.weight", options.hidden);
    let r = b.relu(r);
    let mut rounds = vec![r];
    for k in 0..options.layers {
        let parts = [&one, &two].map(|ring| b.propagate(ring, rounds[k]));
        rounds.push(b.concat(&parts));
    }
    let r = b.concat(&rounds);
    b.embedding(r);
    let r = b.dropout(r, options.dropout);
    let z = b.linear(r, "classify.weight", problem.n_outputs);
    Ok(b.finish(z)?)
}
