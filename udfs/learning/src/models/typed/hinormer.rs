//! Heterogeneous information network transformer (Mao, Li, Liu and Sun 2023, Sec. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::Tensor;

use super::projected;
use super::sequences::{Draw, Sequences};
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::edge::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::TYPED;
use crate::models::{ModelSpec, Problem};
use crate::network::{Hop, Operator};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::expressions::composed::Neighborwise;
use crate::program::{Builder, Program, Slot};

/// The registration: the defaults of the authors' program but for the length, which is 200 there and takes seventy times as long. It
/// stops after 50 epochs without improvement (`patience`). Its dropout of attention coefficients is not there.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hinormer",
    family: TYPED,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Mao, Li, Liu and Sun 2023, HINormer: representation learning on heterogeneous information networks with graph \
             transformer",
    defaults: Defaults { epochs: 1000, lr: 1e-4, weight_decay: 0.0, hidden: 32, layers: 3, ..COMMON },
    own: &[
        OptionSpec::integer("graph_layers", 2, [0, 64], "layers of either encoder, of the structure and of the types"),
        OptionSpec::integer(
            "heads",
            2,
            [1, MAX_HEADS as i64],
            "attention heads, which share the hidden columns: a divisor of hidden",
        ),
        OptionSpec::integer(
            "length",
            24,
            [1, 65_536],
            "the nodes of a sequence, which a node attends to: itself, then its neighbours, theirs and so on, those of a node in \
             random order. Time and memory grow as nodes times its square: with the 200 of the authors they are seventy times as much",
        ),
        OptionSpec::real("temperature", 1.0, [0.0, f64::INFINITY], "what scores are divided by, above 0"),
        OptionSpec::real("beta", 1.0, [0.0, f64::INFINITY], "factor of the scores of the types"),
    ],
    // The sequences are those of the whole graph.
    reach: None,
    build,
};

/// The slope of the scores' rectifier below 0.
const SLOPE: f64 = 0.2;

/// With `P = D^-1/2 (A + I) D^-1/2` on all edges: `h = X W_t + b_t`, then `graph_layers` times `h <- elu(P h W + b)`; codes `r`, at
/// first a column a type with a 1 in that of the node's, as often `r <- elu(P (c_t r V) + d)` with a number `c_t` of each type, 1 at
/// first. A node's sequence holds itself and those around it; a layer, of which there are `layers - 1`, is over the pairs of one
/// sequence, head by head: the score is `(<a, leaky(h_i W_q + h_j W_k)> + beta <r_i V_k, r_j V_q>) / temperature`, and `h <- norm(h
/// + (sum_j softmax_j h_j W_k) W_o)`. The outputs are affine in the first of each sequence, each row divided by its norm.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let (kinds, hidden, p) = (relations.kinds(), options.hidden, options.dropout);
    let (heads, length) = (options.integer("heads")? as usize, options.integer("length")? as usize);
    let (temperature, beta) = (options.real("temperature")?, options.real("beta")?);
    if !hidden.is_multiple_of(heads) {
        return Err(OptionError::invalid("heads", heads, &format!("a divisor of hidden, {hidden}")).into());
    }
    if temperature == 0.0 {
        return Err(OptionError::invalid("temperature", temperature, "a number above 0").into());
    }
    let draw = Draw { length, hops: usize::MAX, neighbors: usize::MAX, samples: 1, globals: 0, seed: options.seed };
    let sequences = Sequences::new(&problem.graph, draw, reservation)?;
    let propagation = Arc::new(Operator::symmetric(&problem.graph, reservation)?);
    let n_types = relations.n_types();
    let (stream, types) = (Axis::padded(1, hidden), Axis::padded(1, n_types));
    let (in_heads, types_in_heads) = (Axis::padded(heads, hidden / heads), Axis::padded(heads, n_types));
    let mut b = Builder::new(problem, reservation);
    let mut h = projected(&mut b, &relations, stream, 0.0);
    let nodes = b.nodes();
    let mut r = b.constant(nodes.clone(), types, |values| {
        let rows = values.chunks_exact_mut(types.stride()).zip(&*kinds.of);
        rows.for_each(|(row, &kind)| row[kind as usize] = 1.0);
    })?;
    let linear = |b: &mut Builder<'_, '_>, x: Slot, name: String, columns: Axis| {
        let initial = Initial::glorot(b.axis(x).len(), columns.len());
        let weights = b.parameter(name, b.axis(x), columns, initial);
        b.linear_with(x, weights)
    };
    for l in 0..options.integer("graph_layers")? {
        let z = linear(&mut b, h, format!("graph.{l}.weight"), stream);
        let z = b.propagate(&propagation, z);
        let z = b.bias(z, format!("graph.{l}.bias"));
        let z = b.activation(z, Activation::Elu);
        h = b.dropout(z, p);
        let z = linear(&mut b, r, format!("types.{l}.weight"), types);
        let zero = b.constant(nodes.clone(), Axis::padded(1, 1), |_| {})?;
        let factor = b.kind_bias(zero, kinds, format!("types.{l}.factor"), Initial::Constant(1.0));
        let z = b.mix_rows(&[z], factor);
        let z = b.propagate(&propagation, z);
        let z = b.bias(z, format!("types.{l}.bias"));
        r = b.activation(z, Activation::Elu);
    }
    let mut h = b.carry(&sequences.members, h);
    let r = b.carry(&sequences.members, r);
    for l in 0..options.layers - 1 {
        let query = linear(&mut b, h, format!("{l}.query.weight"), in_heads);
        let key = linear(&mut b, h, format!("{l}.key.weight"), in_heads);
        let of_target = linear(&mut b, r, format!("{l}.types.target.weight"), types_in_heads);
        let of_source = linear(&mut b, r, format!("{l}.types.source.weight"), types_in_heads);
        let initial = Initial::glorot(heads, hidden / heads);
        let attention = b.parameter(format!("{l}.attention"), Axis::exact(1), in_heads, initial);
        let scores = SequenceAttention { heads, beta, temperature };
        let inputs = [query, key, of_target, of_source];
        let z = b.neighbors(scores, &sequences.pairs, &inputs, &[attention], in_heads);
        let z = linear(&mut b, z, format!("{l}.out.weight"), stream);
        let z = b.dropout(z, p);
        let z = b.sum(&[(h, 1.0), (z, 1.0)]);
        h = b.layer_norm(z, &format!("{l}.norm"));
    }
    let h = b.carry(&sequences.first, h);
    b.embedding(h);
    let z = b.affine(h, "output", problem.n_outputs);
    let z = b.unit_rows(z);
    Ok(b.finish(z)?)
}

/// Attention by a rectified sum of both ends and a product of their types; the messages are the keys.
#[derive(Debug)]
struct SequenceAttention {
    heads: usize,
    beta: f64,
    temperature: f64,
}

impl Neighborwise for SequenceAttention {
    /// Of the columns of keys both ends, their sum, its two halves, what is rectified, the messages, and the gradient of each; of
    /// those of types both ends, the product and their gradients.
    fn numbers_an_entry(&self, columns: &[usize]) -> usize {
        let [query, _, types, _] = columns else { return 0 };
        22 * query + 8 * types + 12 * self.heads
    }

    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> candle_core::Result<Tensor> {
        let [query, key, of_target, of_source] = x else { candle_core::bail!("four inputs") };
        let by_head = |x: &Tensor| {
            let (entries, columns) = x.dims2()?;
            x.reshape((entries, self.heads, columns / self.heads))
        };
        let keys = hop.source(key)?;
        let sums = (hop.target(query)? + &keys)?;
        let rectified = (sums.relu()? - (sums.neg()?.relu()? * SLOPE)?)?;
        let scores = by_head(&rectified.broadcast_mul(&w[0])?)?.sum(2)?;
        let types = by_head(&(hop.target(of_target)? * hop.source(of_source)?)?)?.sum(2)?;
        let alpha = hop.softmax(&((scores + (types * self.beta)?)? / self.temperature)?)?;
        let messages = by_head(&keys)?.broadcast_mul(&alpha.unsqueeze(2)?)?;
        let (entries, columns) = keys.dims2()?;
        hop.sum(&messages.reshape((entries, columns))?)
    }
}
