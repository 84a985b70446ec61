//! Polynomial graph transformer (Ma, He and Wei 2024).

use std::sync::Arc;

use bonnet_graph::Reservation;

use super::{affine, attention_dropout, embedded, feed_forward, made, pairs};
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::edge::MAX_HEADS;
use crate::models::spec::{TOKENS, reach};
use crate::models::{ModelSpec, Problem};
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::pool::Pool;
use crate::program::{Builder, Program};

/// The registration: the defaults of the authors' program, but that the attention there has a learning rate and a decay of its
/// own.
pub const SPEC: ModelSpec = ModelSpec {
    name: "polyformer",
    family: TOKENS,
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Ma, He and Wei 2024, PolyFormer: scalable node-wise filters via polynomial graph transformer",
    defaults: Defaults { lr: 5e-4, weight_decay: 5e-5, layers: 1, dropout: 0.2, ..COMMON },
    own: &[
        OptionSpec::integer("hops", 10, [1, 64], "the largest order of the polynomials"),
        OptionSpec::choice(
            "basis",
            "monomial",
            &["monomial", "chebyshev", "bernstein"],
            "the polynomials: powers of D^-1/2 (A + I) D^-1/2; or of L = I - D^-1/2 A D^-1/2, those of Chebyshev at L - I, or \
             those of Bernstein at L / 2",
        ),
        OptionSpec::integer(
            "heads",
            1,
            [1, MAX_HEADS as i64],
            "attention heads, which share the hidden columns: a divisor of hidden",
        ),
        OptionSpec::real(
            "expansion",
            1.0,
            [0.0, 64.0],
            "width of the layer between tokens and what queries and keys are made of, times hidden",
        ),
        OptionSpec::integer("feed_forward", 128, [1, 65_536], "width of the layer within a feed-forward block"),
        OptionSpec::real(
            "order_decay",
            1.0,
            [0.0, f64::INFINITY],
            "the coefficients of the tokens of order k are divided by (k + 1) to this power",
        ),
        attention_dropout(0.5),
        WEIGHTS,
    ],
    // Its tokens hold all that it sees of its neighbours.
    reach: reach::LOCAL,
    build,
};

/// Tokens `h_k = (g_k(P) X)_v` of each node v, k = 0, ..., hops. `H = X W + b`; a layer is `H <- H + dropout(dropout(tanh(Q
/// K^T / sqrt(d)) * B) V)` over the tokens of one node, with `V = norm(H)`, Q and K linear in `W_2k relu(W_1k v_k)`, a
/// perceptron for each order, and `B_ij = beta_j / (j + 1)^q`, a number for each head and order (Algorithm 1), then `H <- H +
/// dropout(W_2 gelu(W_1 norm(H)))`, whose dropout is that of the coefficients. The outputs are a perceptron of two layers of
/// the sum over the orders. Linear layers start as in PyTorch.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, n) = (problem.options, problem.graph.n_nodes());
    let (orders, heads) = (options.integer("hops")? as usize + 1, options.integer("heads")? as usize);
    let (hidden, p, attention_p) = (options.hidden, options.dropout, options.real("attention_dropout")?);
    if !hidden.is_multiple_of(heads) {
        return Err(OptionError::invalid("heads", heads, &format!("a divisor of hidden, {hidden}")).into());
    }
    let between = ((hidden as f64 * options.real("expansion")?) as usize).max(1);
    let (feed, decay) = (options.integer("feed_forward")? as usize, options.real("order_decay")?);
    let constants: Vec<f32> = (1..=orders).map(|k| (k as f64).powf(-decay) as f32).collect();
    let tokens = made(problem, reservation)?;
    let pairs = pairs(n, orders, reservation)?;
    reservation.grow(size_of::<u32>() * (n + 1))?;
    let starts: Arc<[u32]> = (0..=n).map(|v| (v * orders) as u32).collect();
    let mut b = Builder::new(problem, reservation);
    b.initial(|inputs, _| Initial::linear(inputs));
    let stream = Axis::padded(heads, hidden / heads);
    let mut h = embedded(&mut b, tokens, "token", stream, Initial::linear(problem.features.n_columns()));
    for l in 0..options.layers {
        let value = b.layer_norm(h, &format!("{l}.norm.0"));
        let z = b.order_affine(value, &format!("{l}.order.0"), orders, Axis::padded(1, between));
        let z = b.relu(z);
        let z = b.order_affine(z, &format!("{l}.order.1"), orders, Axis::padded(1, hidden));
        let mut linear = |part: &str| {
            let weights = b.parameter(format!("{l}.{part}.weight"), b.axis(z), stream, Initial::linear(hidden));
            b.linear_with(z, weights)
        };
        let (query, key) = (linear("query"), linear("key"));
        let name = format!("{l}.factor");
        let z = b.tanh_attention(&pairs, [query, key, value], heads, name, &constants, attention_p)?;
        let z = b.dropout(z, attention_p);
        h = b.sum(&[(h, 1.0), (z, 1.0)]);
        h = feed_forward(&mut b, h, l, feed, attention_p, Initial::linear);
    }
    let z = b.pool(h, starts, Pool::Sum)?;
    let z = b.dropout(z, p);
    let z = affine(&mut b, z, "0", Axis::padded(1, hidden), Initial::linear(hidden));
    let z = b.relu(z);
    b.embedding(z);
    let z = b.dropout(z, p);
    let z = affine(&mut b, z, "1", Axis::padded(1, problem.n_outputs), Initial::linear(hidden));
    Ok(b.finish(z)?)
}
