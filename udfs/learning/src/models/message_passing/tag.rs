//! Topology adaptive graph convolution (Du et al. 2017, Eq. 2 and 3).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::BuildError;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, OptionSpec, Task};
use crate::program::{Builder, Program, Slot, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "tag",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Du, Zhang, Wu, Moura and Kar 2017, Topology adaptive graph convolutional networks",
    defaults: COMMON,
    own: &[OptionSpec::integer("hops", 3, [0, 16], "largest power of the adjacency"), DIRECTION, WEIGHTS],
    reach: reach::HOPS_A_LAYER,
    build,
};

/// `H_l = relu(sum over k of S^k H_{l-1} W_k + b)` with `S = D^-1/2 A D^-1/2`, without loops; the last layer without
/// relu. The sum is taken as Horner does: one propagation a power.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let hops = options.integer("hops")? as usize;
    let operator = Arc::new(Operator::symmetric_without_loops(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut h = Source::from(b.input(options.dropout));
    for l in 0..options.layers {
        let last = l + 1 == options.layers;
        let width = if last { problem.n_outputs } else { options.hidden };
        let terms: Vec<Slot> = (0..=hops).map(|k| b.linear(h, format!("{l}.{k}.weight"), width)).collect();
        let mut z = terms[hops];
        for k in (0..hops).rev() {
            z = b.propagate_plus(&operator, 1.0, z, 1.0, terms[k]);
        }
        let z = b.bias(z, format!("{l}.bias"));
        if last {
            return Ok(b.finish(z)?);
        }
        let z = b.relu(z);
        let z = b.dropout(z, options.dropout);
        b.embedding(z);
        h = z.into();
    }
    unreachable!("there is at least one layer")
}
