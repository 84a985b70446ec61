//! MixHop (Abu-El-Haija et al. 2019, Eq. 2 and the output layer of Sec. 3.1).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, OptionSpec, Task};
use crate::program::layers::combine::{Map, Weights};
use crate::program::{Builder, Program, Slot, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mixhop",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Abu-El-Haija, Perozzi, Kapoor et al. 2019, MixHop: higher-order graph convolutional architectures via sparsified neighborhood mixing",
    defaults: COMMON,
    own: &[
        OptionSpec::integer("hops", 2, [0, 16], "largest power of the adjacency; the powers from 0 on are mixed"),
        DIRECTION,
        WEIGHTS,
    ],
    reach: reach::HOPS_A_LAYER,
    build,
};

/// `H_l = relu([S^0 H W_0 + b_0 | S^1 H W_1 + b_1 | ...])` with `S = D^-1/2 (A + I) D^-1/2` and `hidden` columns a power;
/// the last layer adds its powers up, weighted by the softmax of a learnt vector.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let hops = options.integer("hops")? as usize;
    let operator = Arc::new(Operator::symmetric(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut h = Source::from(b.input(options.dropout));
    for l in 0..options.layers - 1 {
        let powers = powers(&mut b, &operator, h, l, hops, options.hidden);
        let z = b.concat(&powers);
        let z = b.relu(z);
        let z = b.dropout(z, options.dropout);
        b.embedding(z);
        h = z.into();
    }
    let powers = powers(&mut b, &operator, h, options.layers - 1, hops, problem.n_outputs);
    let mix = b.parameter("mix", Axis::exact(1), Axis::exact(hops + 1), Initial::Zeros);
    let z = b.learned_sum(&powers, mix, Weights::plain(Map::Softmax));
    Ok(b.finish(z)?)
}

/// `S^j h W_j + b_j` for `j = 0..=hops`.
fn powers(
    b: &mut Builder<'_, '_>,
    operator: &Arc<Operator>,
    h: Source,
    layer: usize,
    hops: usize,
    width: usize,
) -> Vec<Slot> {
    (0..=hops)
        .map(|j| {
            let xw = b.linear(h, format!("{layer}.{j}.weight"), width);
            let z = (0..j).fold(xw, |z, _| b.propagate(operator, z));
            b.bias(z, format!("{layer}.{j}.bias"))
        })
        .collect()
}
