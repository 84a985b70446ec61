//! Label propagation (Zhou et al. 2004, the iteration of Sec. 2): nothing is learnt.

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError};
use crate::kernels::RowSet;
use crate::kernels::elementwise::Finish;
use crate::kernels::propagate::{Base, Propagate};
use crate::models::{ModelSpec, Problem};
use crate::network::{Operator, zeros};
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "label_propagation",
    family: "structure-only",
    geometry: "euclidean",
    tasks: &["node_classification"],
    source: "Zhou, Bousquet, Lal, Weston and Schölkopf 2004, Learning with local and global consistency",
    // There is nothing to train: the first epoch has the outputs.
    defaults: Defaults { epochs: 1, layers: 1, dropout: 0.0, ..COMMON },
    own: &[
        DIRECTION,
        WEIGHTS,
        OptionSpec::real(
            "alpha",
            0.9,
            [0.0, 1.0],
            "share of the neighbours' labels in a round; the rest is the node's own",
        ),
        OptionSpec::integer("hops", 1, [1, 8], "number of edges over which labels travel in a round"),
    ],
    reach: None,
    build,
};

/// The number of propagation steps, as the benchmarks that report this model have it.
const ROUNDS: usize = 50;

/// `Y <- alpha S^hops Y + (1 - alpha) Y_0`, 50 times from `Y_0`, the indicator of the training nodes' classes, with
/// `S = D^-1/2 A D^-1/2`; training labels are not clamped. The outputs are the scores Y themselves: their order gives the
/// predictions, probabilities are those of their softmax. O(50 hops edges classes), once.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    problem.expect_layers(1)?;
    let options = problem.options;
    let (alpha, hops) = (options.real("alpha")? as f32, options.integer("hops")?);
    let operator = Operator::symmetric_without_loops(&problem.graph, reservation)?;
    let (n, axis) = (problem.graph.n_nodes(), Axis::padded(1, problem.n_outputs));
    let width = axis.stride();
    reservation.grow(RowSet::bytes(n))?;
    let all = RowSet::all(n);
    let mut start = zeros(reservation, n * width)?;
    for &(node, class) in problem.known_labels.iter() {
        start[node as usize * width + class as usize] = 1.0;
    }
    let (mut y, mut next) = (zeros(reservation, n * width)?, zeros(reservation, n * width)?);
    y.copy_from_slice(&start);
    for _ in 0..ROUNDS {
        for hop in 0..hops {
            let (scale, base) =
                if hop + 1 == hops { (alpha, Base::Rows(&start, 1.0 - alpha)) } else { (1.0, Base::Zero) };
            let propagate = Propagate { matrix: operator.csr(), x: &y, width, scale, base, finish: Finish::NOTHING };
            propagate.run(&all, &mut next, reservation.monitor())?;
            std::mem::swap(&mut y, &mut next);
        }
    }
    let mut b = Builder::new(problem, reservation);
    let nodes = b.nodes();
    let z = b.constant(nodes, axis, |values| values.copy_from_slice(&y))?;
    Ok(b.finish(z)?)
}
