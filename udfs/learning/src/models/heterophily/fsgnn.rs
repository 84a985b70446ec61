//! Feature selection graph neural network (Maurya, Liu and Murata 2022, Sec. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::elementwise::Activation;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::combine::{Map, Weights};
use crate::program::{Builder, Program};

/// The registration: the 3-hop configuration with all features; rates and decay of the authors' program.
pub const SPEC: ModelSpec = ModelSpec {
    name: "fsgnn",
    family: "heterophily",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Maurya, Liu and Murata 2022, Simplifying approach to node classification in graph neural networks",
    defaults: Defaults { lr: 0.02, ..COMMON },
    own: &[
        DIRECTION,
        OptionSpec::integer("hops", 3, [0, 64], "largest power of the adjacency"),
        OptionSpec::choice(
            "feature_set",
            "all",
            &["all", "homophily", "heterophily"],
            "powers with and without loops, with loops alone (homophily), without loops alone (heterophily)",
        ),
        WEIGHTS,
    ],
    reach: reach::HOPS,
    build,
};

/// `Z = dropout(relu([a_0 n(X W_0 + b_0) | a_1 n(S X W_1 + b_1) | a_2 n(T X W_2 + b_2) | a_3 n(S^2 X W_3 + b_3) | ...])) W + b`
/// with `S` the normalised adjacency without loops, `T` with loops, rows scaled to length 1 by `n`, and `a` the softmax of
/// learnt scores. The features themselves are not dropped. Narrow rows are propagated: `S^k X W = S^k (X W)`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, graph) = (problem.options, &problem.graph);
    problem.expect_layers(2)?;
    let (hops, set) = (options.integer("hops")?, options.text("feature_set")?);
    let plain = Arc::new(Operator::symmetric_without_loops(graph, reservation)?);
    let looped = Arc::new(Operator::symmetric(graph, reservation)?);
    let mut inputs = vec![(&plain, 0)];
    for k in 1..=hops {
        inputs.extend((set != "homophily").then_some((&plain, k)));
        inputs.extend((set != "heterophily").then_some((&looped, k)));
    }
    let mut b = Builder::new(problem, reservation);
    b.initial(|inputs, _| Initial::linear(inputs));
    let x = b.input(0.0);
    let mut parts = Vec::new();
    for (number, &(operator, power)) in inputs.iter().enumerate() {
        let mut h = b.linear(x, format!("{number}.weight"), options.hidden);
        for _ in 0..power {
            h = b.propagate(operator, h);
        }
        let h = b.bias(h, format!("{number}.bias"));
        parts.push(b.unit_rows(h));
    }
    // Equal at first: the authors start at 1, and a softmax does not see what all scores share.
    let gate = b.parameter("gate", Axis::exact(1), Axis::exact(parts.len()), Initial::Zeros);
    let one = |number: usize| (0..parts.len()).map(|k| f64::from(u8::from(k == number))).collect();
    let weighted: Vec<_> = (0..parts.len())
        .map(|number| b.learned_sum(&[parts[number]], gate, Weights::in_basis(Map::Softmax, one(number))))
        .collect();
    let h = b.concat(&weighted);
    let h = b.activation(h, Activation::Relu);
    b.embedding(h);
    let h = b.dropout(h, options.dropout);
    let z = b.affine(h, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}
