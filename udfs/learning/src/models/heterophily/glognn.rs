//! GloGNN: aggregation among all nodes with a coefficient matrix in closed form (Li et al. 2022, Eq. 3-10).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::low_rank::Ridge;
use crate::models::{ModelSpec, Problem};
use crate::network::{Operator, adjacency, adjacency_bytes};
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, Defaults, OptionSpec};
use crate::program::layers::combine::{Map, Weights};
use crate::program::{Builder, Program};

/// The registration: the authors' setting for Cora.
pub const SPEC: ModelSpec = ModelSpec {
    name: "glognn",
    family: "heterophily",
    geometry: "euclidean",
    // Every node of one graph has weights of its own, and sees every other.
    tasks: &["node_classification"],
    source: "Li, Zhu, Cheng, Shan, Luo, Li and Qian 2022, Finding global homophily in graph neural networks when meeting \
             heterophily",
    defaults: Defaults { weight_decay: 1e-5, dropout: 0.8, ..COMMON },
    own: &[
        OptionSpec::real(
            "alpha",
            0.1,
            [0.0, 1.0],
            "share of the adjacency's rows in the first representation, beside the features",
        ),
        OptionSpec::real("gamma", 0.8, [0.0, 1.0], "weight of the first representation in every layer"),
        OptionSpec::real("beta1", 77.0, [0.0, f64::INFINITY], "penalty of the squared coefficients"),
        OptionSpec::real(
            "beta2",
            1000.0,
            [0.0, f64::INFINITY],
            "penalty of the coefficients' squared distance to the hops of the graph",
        ),
        OptionSpec::integer("orders", 6, [1, 64], "number of hops whose weights are learnt"),
        WEIGHTS,
    ],
    reach: None,
    build,
};

/// `H_0 = relu((1 - alpha) (X W_X + b_X) + alpha (A W_A + b_A)) W + b`, then in each layer `H <- (1 - gamma) Z H + gamma H_0`
/// with the `Z` that minimises `|H - (1 - gamma) Z H - gamma H_0|^2 + beta_1 |Z|^2 + beta_2 |Z - sum of lambda_k S^k|^2`,
/// `S = (D + I)^-1/2 (A + I) (D + I)^-1/2`, `lambda` learnt and `1 / orders` at first.
///
/// With `s = 1 - gamma` and `Q = s (s^2 H H' + (beta_1 + beta_2) I)^-1 H` this is
/// `H <- (s H - s gamma H_0) H' Q + beta_2 sum of lambda_k S^k Q + gamma H_0`: O(n k^2 + orders m k) for `k` classes.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, graph) = (problem.options, &problem.graph);
    let (alpha, gamma) = (options.real("alpha")?, options.real("gamma")?);
    let (beta1, beta2) = (options.real("beta1")?, options.real("beta2")?);
    if beta1 + beta2 <= 0.0 {
        return Err(OptionError::invalid("beta1 + beta2", beta1 + beta2, "a number above 0").into());
    }
    let orders = options.integer("orders")? as usize;
    let operator = Arc::new(Operator::symmetric(graph, reservation)?);
    reservation.grow(adjacency_bytes(graph.whole()?))?;
    let adjacency = Arc::new(adjacency(graph));
    let mut b = Builder::new(problem, reservation);
    b.initial(|inputs, _| Initial::linear(inputs));
    let x = b.input(options.dropout);
    let a = b.features(adjacency, 0.0);
    let h = b.affine(x, "features", options.hidden);
    let structure = b.affine(a, "adjacency", options.hidden);
    let h = b.sum(&[(h, 1.0 - alpha), (structure, alpha)]);
    let h = b.relu(h);
    b.embedding(h);
    let h = b.dropout(h, options.dropout);
    let first = b.affine(h, "output", problem.n_outputs);
    let equal = Initial::Constant(1.0 / orders as f64);
    let lambda = b.parameter("orders", Axis::exact(1), Axis::exact(orders), equal);
    let (s, mut h) = (1.0 - gamma, first);
    for _ in 0..options.layers {
        let q = b.ridge(h, Ridge { c: s * s, a: beta1 + beta2, scale: s })?;
        let mut hops = vec![b.propagate(&operator, q)];
        for k in 1..orders {
            hops.push(b.propagate(&operator, hops[k - 1]));
        }
        let hops = b.learned_sum(&hops, lambda, Weights::plain(Map::Identity));
        let rest = b.sum(&[(h, 1.0), (first, -gamma)]);
        let pairs = b.all_pairs(rest, h, q, s)?;
        h = b.sum(&[(pairs, 1.0), (hops, beta2), (first, gamma)]);
    }
    Ok(b.finish(h)?)
}
