//! Graph isomorphism network (Xu et al. 2019, Eq. 4.1).

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
    name: "gin",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Xu, Hu, Leskovec and Jegelka 2019, How powerful are graph neural networks?",
    defaults: COMMON,
    own: &[
        DIRECTION,
        WEIGHTS,
        OptionSpec::choice(
            "norm",
            "none",
            &["none", "layer"],
            "normalisation inside each perceptron; the paper's is by batch, which would make an output depend on \
                      which others are computed",
        ),
    ],
    reach: reach::A_LAYER,
    build,
};

/// `H_l = MLP_l((1 + eps_l) H_{l-1} + A H_{l-1})` with learnt eps, 0 at first, and a perceptron of two layers, relu after
/// its first layer and between the layers of the network. The first weights come before the sum over neighbours, which is
/// the same and lets sparse features stay sparse.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let normalised = options.text("norm")? == "layer";
    let sum = Arc::new(Operator::sum(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut h = Source::from(b.input(options.dropout));
    for l in 0..options.layers {
        let xw = b.linear(h, format!("{l}.0.weight"), options.hidden);
        let z = aggregate(&mut b, &sum, xw, &format!("{l}.eps"));
        let z = b.bias(z, format!("{l}.0.bias"));
        let z = if normalised { b.layer_norm(z, &format!("{l}.norm")) } else { z };
        let hidden = b.relu(z);
        if l + 1 == options.layers {
            b.embedding(hidden);
            let z = b.affine(hidden, &format!("{l}.1"), problem.n_outputs);
            return Ok(b.finish(z)?);
        }
        let z = b.affine(hidden, &format!("{l}.1"), options.hidden);
        let z = b.relu(z);
        h = b.dropout(z, options.dropout).into();
    }
    unreachable!("there is at least one layer")
}

/// `(1 + eps) x + A x`.
fn aggregate(b: &mut Builder<'_, '_>, sum: &Arc<Operator>, x: Slot, name: &str) -> Slot {
    let neighbors = b.propagate(sum, x);
    let eps = b.parameter(name, Axis::exact(1), Axis::exact(1), Initial::Zeros);
    let weights = Weights { map: Map::Identity, basis: Some(vec![1.0, 0.0]), offset: vec![1.0, 1.0] };
    b.learned_sum(&[x, neighbors], eps, weights)
}
