//! Gophormer (Zhao et al. 2021): a transformer over sampled ego graphs, whose scores know how near two nodes are.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::projected;
use super::sequences::{Draw, Sequences};
use super::unified_gt::ATTENTION_DROPOUT;
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::edge::MAX_HEADS;
use crate::models::tokens::{affine, feed_forward};
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::edges::terms::EntryTerms;
use crate::program::layers::pool::Pool;
use crate::program::layers::sample_mean::Agreement;
use crate::program::{Builder, Program};

/// The registration. Types are not read.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gophormer",
    family: "attention",
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Zhao, Li, Wen, Wang, Liu, Sun, Xie and Ye 2021, Gophormer: ego-graph transformer for node classification",
    defaults: Defaults { lr: 0.001, weight_decay: 1e-5, optimizer: "adamw", layers: 3, ..COMMON },
    own: &[
        OptionSpec::integer("hops", 2, [1, 16], "the radius of an ego graph, in edges"),
        OptionSpec::integer(
            "neighbors",
            4,
            [1, 65_536],
            "the most neighbours that are drawn of a node of an ego graph, once from the seed",
        ),
        OptionSpec::integer(
            "length",
            32,
            [1, 65_536],
            "the most nodes of an ego graph. Memory grows as nodes times samples times its square",
        ),
        OptionSpec::integer("globals", 1, [0, 64], "learnt tokens beside the nodes of every ego graph"),
        OptionSpec::integer(
            "proximity",
            3,
            [1, 16],
            "how many powers of the adjacency, from the 0th on, the score of two nodes reads",
        ),
        OptionSpec::integer("samples", 2, [1, 64], "the ego graphs of a node: predictions are the mean of theirs"),
        OptionSpec::real(
            "consistency",
            1.0,
            [0.0, f64::INFINITY],
            "factor of the penalty where the predictions for the ego graphs of a node differ",
        ),
        OptionSpec::real(
            "temperature",
            0.5,
            [0.0, f64::INFINITY],
            "the power 1 / temperature of the mean prediction is what they are held to, above 0",
        ),
        OptionSpec::integer(
            "heads",
            4,
            [1, MAX_HEADS as i64],
            "attention heads, which share the hidden columns: a divisor of hidden",
        ),
        ATTENTION_DROPOUT,
    ],
    // The ego graphs are those of the whole graph.
    reach: None,
    build,
};

/// `h = X W_t + b_t`. An ego graph of a node has the node, then neighbours that are drawn of each member in turn, and `globals` learnt
/// rows. A layer, of which there are `layers - 1`, is over the pairs of one ego graph, head by head: `y = norm(h)`, the score `<q_i,
/// k_j> / sqrt(d) + sum_m b_m (P^m)_ij`, m from 0 to `proximity - 1`, with `P = D^-1/2 (A + I) D^-1/2` of the whole graph between the
/// members, others taken as absent, and a number of its own for the pairs with a learnt row (Eq. 5-6); queries, keys and values
/// affine in y; `h <- h + dropout(sum W + c)`, then `h <- h + dropout(W_2 gelu(W_1 norm(h)))`. The predictions p are the softmax
/// of an affine function of the ego graph's first row; the outputs are the logarithm of their mean over the `samples` of a node.
///
/// The loss is the cross-entropy of the mean and `consistency` times the mean over the training nodes of `sum_s |p_s - t|^2`, t the
/// mean sharpened, `mean^(1 / temperature)` over its sum, a constant (Sec. 4.4). The paper's cross-entropy is the mean of that of
/// each sample. Its samples are drawn anew in each epoch, these once.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let count = |name: &str| options.integer(name).map(|count| count as usize);
    let (hidden, heads, orders) = (options.hidden, count("heads")?, count("proximity")?);
    let (samples, globals, temperature) = (count("samples")?, count("globals")?, options.real("temperature")?);
    if !hidden.is_multiple_of(heads) {
        return Err(OptionError::invalid("heads", heads, &format!("a divisor of hidden, {hidden}")).into());
    }
    if temperature == 0.0 {
        return Err(OptionError::invalid("temperature", temperature, "a number above 0").into());
    }
    let draw = Draw {
        length: count("length")?,
        hops: count("hops")?,
        neighbors: count("neighbors")?,
        samples,
        globals,
        seed: options.seed,
    };
    let sequences = Sequences::new(&problem.graph, draw, reservation)?;
    let propagation = Operator::symmetric(&problem.graph, reservation)?;
    let terms = EntryTerms::of_weights(proximity(&sequences, &propagation, globals, orders, reservation)?, orders + 1);
    let n = problem.graph.n_nodes();
    reservation.grow(4 * (n + 1) + 4 * problem.known_labels.len())?;
    let starts: Arc<[u32]> = (0..=n).map(|node| (node * samples) as u32).collect();
    let mut held: Vec<u32> = problem.known_labels.iter().map(|known| known.0).collect();
    held.sort_unstable();
    let mut b = Builder::new(problem, reservation);
    let (stream, in_heads) = (Axis::padded(1, hidden), Axis::padded(heads, hidden / heads));
    let initial = || Initial::glorot(hidden, hidden);
    let h = projected(&mut b, &relations, stream, options.dropout);
    let mut h = b.carry(&sequences.members, h);
    if globals > 0 {
        let learnt = b.table("globals", globals, stream, initial())?;
        h = b.carry_plus(&sequences.globals, learnt, h);
    }
    for layer in 0..options.layers - 1 {
        let y = b.layer_norm(h, &format!("{layer}.norm.0"));
        let projected =
            ["query", "key", "value"].map(|part| affine(&mut b, y, &format!("{layer}.{part}"), in_heads, initial()));
        let table = b.table(format!("{layer}.proximity"), orders + 1, Axis::padded(1, heads), Initial::Zeros)?;
        let of_entries = (Arc::new([]) as Arc<[f32]>, terms.clone(), table);
        let attention_p = options.real("attention_dropout")?;
        let z = b.termed_attention(&sequences.pairs, of_entries, projected, heads, attention_p)?;
        let z = affine(&mut b, z, &format!("{layer}.out"), stream, initial());
        let z = b.dropout(z, options.dropout);
        h = b.sum(&[(h, 1.0), (z, 1.0)]);
        h = feed_forward(&mut b, h, layer, 2 * hidden, options.dropout, |inputs| Initial::glorot(inputs, hidden));
    }
    let h = b.carry(&sequences.first, h);
    let z = b.affine(h, "output", problem.n_outputs);
    let of_node = b.pool(h, starts, Pool::Mean)?;
    b.embedding(of_node);
    let agreement = Agreement { samples, weight: options.real("consistency")?, temperature };
    let z = b.sample_mean(z, of_node, held.into(), agreement);
    Ok(b.finish(z)?)
}

/// For each pair of members of a sequence the entries of the powers of the propagation from the 0th on, along walks within the
/// sequence, then 1 where a member is no node; `orders + 1` numbers a pair. O(pairs * orders * entries of a row).
fn proximity(
    sequences: &Sequences,
    propagation: &Operator,
    globals: usize,
    orders: usize,
    reservation: &mut Reservation<'_>,
) -> Result<Arc<[f32]>, Stopped> {
    let (per_pair, csr) = (orders + 1, propagation.csr());
    // The numbers, while they are made and when they are shared.
    let bytes = 4 * per_pair * sequences.pairs.n_entries();
    reservation.grow(bytes)?;
    let _made = Reservation::new(reservation.monitor(), bytes + 4 * propagation.n_rows())?;
    let mut values = Vec::with_capacity(per_pair * sequences.pairs.n_entries());
    let mut place = vec![u32::MAX; propagation.n_rows()];
    for (number, ends) in sequences.starts.windows(2).enumerate() {
        if number % 256 == 0 {
            reservation.check()?;
        }
        let members: Vec<u32> = (ends[0]..ends[1] - globals).map(|at| sequences.members.row(at as u32)[0]).collect();
        let m = members.len();
        (0u32..).zip(&members).for_each(|(at, &node)| place[node as usize] = at);
        // The propagation between the members, row by row.
        let mut block = vec![0f64; m * m];
        for (i, &node) in members.iter().enumerate() {
            for entry in csr.offsets[node as usize]..csr.offsets[node as usize + 1] {
                let at = place[csr.columns[entry] as usize];
                if at != u32::MAX {
                    block[i * m + at as usize] = f64::from(csr.values[entry]);
                }
            }
        }
        members.iter().for_each(|&node| place[node as usize] = u32::MAX);
        let mut powers = vec![vec![0f64; m * m]];
        (0..m).for_each(|i| powers[0][i * m + i] = 1.0);
        for order in 1..orders {
            let mut next = vec![0f64; m * m];
            for i in 0..m {
                for k in (0..m).filter(|k| block[i * m + k] != 0.0) {
                    let (factor, from) = (block[i * m + k], &powers[order - 1][k * m..(k + 1) * m]);
                    next[i * m..(i + 1) * m].iter_mut().zip(from).for_each(|(sum, x)| *sum += factor * x);
                }
            }
            powers.push(next);
        }
        for i in 0..m + globals {
            for j in 0..m + globals {
                if i < m && j < m {
                    values.extend(powers.iter().map(|power| power[i * m + j] as f32));
                    values.push(0.0);
                } else {
                    values.resize(values.len() + orders, 0.0);
                    values.push(1.0);
                }
            }
        }
    }
    Ok(values.into())
}
