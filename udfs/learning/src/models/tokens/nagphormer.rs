//! Neighbourhood aggregation graph transformer (Chen, Gao, Li and He 2023).

use bonnet_graph::Reservation;

use super::{affine, attention_dropout, embedded, feed_forward, made, pairs};
use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::edge::MAX_HEADS;
use crate::models::spec::{TOKENS, reach};
use crate::models::{ModelSpec, Problem};
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::{Builder, Program};

/// The registration: the defaults of the authors' program. They train in batches of 1,000 nodes (`batch_nodes`) with a warm-up
/// of 400 steps, and append 15 eigenvectors of the Laplacian to the features.
pub const SPEC: ModelSpec = ModelSpec {
    name: "nagphormer",
    family: TOKENS,
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Chen, Gao, Li and He 2023, NAGphormer: a tokenized graph transformer for node classification in large graphs",
    defaults: Defaults {
        lr: 0.001,
        weight_decay: 1e-5,
        optimizer: "adamw",
        hidden: 512,
        layers: 1,
        dropout: 0.1,
        ..COMMON
    },
    own: &[
        OptionSpec::integer(
            "hops",
            7,
            [1, 64],
            "the largest power of the adjacency whose product with the features is a token",
        ),
        OptionSpec::integer(
            "heads",
            8,
            [1, MAX_HEADS as i64],
            "attention heads, which share the hidden columns: hidden / heads each, one at least",
        ),
        attention_dropout(0.1),
        WEIGHTS,
    ],
    // Its tokens hold all that it sees of its neighbours.
    reach: reach::LOCAL,
    build,
};

/// Tokens `x_k = (P^k X)_v`, `P = D^-1/2 (A + I) D^-1/2`, k = 0, ..., hops, of each node v (Eq. 3-4). `Z = X W + b`; a layer is `Z <- Z +
/// dropout(softmax(Q K^T / sqrt(d)) V W + b)` over the tokens of one node, with Q, K, V affine in `norm(Z)`, then `Z <- Z +
/// dropout(W_2 gelu(W_1 norm(Z)))` of twice the width (Eq. 5-6). With `norm(Z)` for Z the outputs are `relu((z_0 + sum over k
/// >= 1 of alpha_k z_k) W_3) W_4`, `alpha_k = softmax_k(<(a_0, a), (z_0, z_k)>)` (Eq. 8-9): half as wide in between, as the
/// authors' program has it. The term of `z_0` in the scores changes no softmax, and there is none here. Weights start
/// uniform with the deviation of the authors', `0.02 / sqrt(layers)`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, n) = (problem.options, problem.graph.n_nodes());
    let (hops, heads) = (options.integer("hops")? as usize, options.integer("heads")? as usize);
    let (hidden, p, attention_p) = (options.hidden, options.dropout, options.real("attention_dropout")?);
    let tokens = made(problem, reservation)?;
    let pairs = pairs(n, hops + 1, reservation)?;
    let mut b = Builder::new(problem, reservation);
    let limit = 0.02 * 3f64.sqrt() / (options.layers as f64).sqrt();
    let initial = || Initial::Uniform(limit);
    let (stream, in_heads) = (Axis::padded(1, hidden), Axis::padded(heads, (hidden / heads).max(1)));
    let mut z = embedded(&mut b, tokens, "token", stream, initial());
    for l in 0..options.layers {
        let y = b.layer_norm(z, &format!("{l}.norm.0"));
        let projected =
            ["query", "key", "value"].map(|part| affine(&mut b, y, &format!("{l}.{part}"), in_heads, initial()));
        let y = b.dot_attention(&pairs, projected, heads, attention_p)?;
        let y = affine(&mut b, y, &format!("{l}.out"), stream, initial());
        let y = b.dropout(y, p);
        z = b.sum(&[(z, 1.0), (y, 1.0)]);
        z = feed_forward(&mut b, z, l, 2 * hidden, p, |_| initial());
    }
    let z = b.layer_norm(z, "norm");
    let z = b.token_read_out(z, "read_out.weight", hops + 1, initial());
    let z = affine(&mut b, z, "0", Axis::padded(1, (hidden / 2).max(1)), initial());
    let z = b.relu(z);
    b.embedding(z);
    let z = affine(&mut b, z, "1", Axis::padded(1, problem.n_outputs), initial());
    Ok(b.finish(z)?)
}
