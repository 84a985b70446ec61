//! Heterogeneous graph attention network (Wang et al. 2019, Eq. 1-10).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};
use candle_core::Tensor;

use super::metapaths::{FORMS, Metapath};
use super::{ON_NODES_AND_LINKS, projected};
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::attention::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::TYPED;
use crate::models::{ModelSpec, Problem};
use crate::network::{Kinds, Operator};
use crate::options::{COMMON, Defaults, Domain, OptionSpec};
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::{Builder, Program, Slot, Space};

/// The registration: the paper's setting.
pub const SPEC: ModelSpec = ModelSpec {
    name: "han",
    family: TYPED,
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Wang, Ji, Shi, Wang, Cui, Yu and Ye 2019, Heterogeneous graph attention network",
    defaults: Defaults { lr: 0.005, weight_decay: 1e-3, hidden: 8, dropout: 0.6, ..COMMON },
    own: &[
        OptionSpec::new(
            "metapaths",
            Domain::Text { forms: FORMS },
            "the metapaths whose neighbours a node attends to, between commas: types between >, as in \
             paper>author>paper,paper>subject>paper, or with a step's relation as metapath_edges has it. A node is its own \
             neighbour where a path comes back to it. NULL is each relation and each inverse, paths of one step",
        ),
        OptionSpec::integer("heads", 8, [1, MAX_HEADS as i64], "attention heads, concatenated"),
        OptionSpec::integer("semantic", 128, [1, 65_536], "width of the attention over metapaths"),
        OptionSpec::choice(
            "activation",
            "elu",
            &["elu", "relu"],
            "what is applied to a metapath's sums: elu, as the authors have it, or relu",
        ),
        OptionSpec::real(
            "attention_dropout",
            0.6,
            [0.0, 1.0],
            "probability that an attention coefficient is dropped in training",
        ),
        OptionSpec::real("negative_slope", 0.2, [0.0, 1.0], "slope of the leaky rectifier of the scores below 0"),
    ],
    // The weight of a metapath is a mean over all nodes of a type.
    reach: None,
    build,
};

/// A metapath with the neighbours that it joins.
struct Path {
    name: String,
    /// The type that it leads to.
    end: u32,
    edges: Arc<Operator>,
}

/// A layer, with the weights `M_t` of each node's type: `m = h M_t + b_t`; of each metapath p the attention
/// `z_p = elu(heads side by side of sum_j alpha_ij m_j)` over its neighbours, scores as in gat; of each metapath into a type its
/// weight, the softmax over these metapaths of the mean over the type's nodes of `<q, tanh(z_p W + b)>`; and
/// `h <- sum over p of weight_p z_p`. The last of `layers` is linear. Weights start as Glorot and Bengio's, biases at 0.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let kinds = relations.kinds();
    let heads = options.integer("heads")? as usize;
    let (slope, attention_p) = (options.real("negative_slope")? as f32, options.real("attention_dropout")?);
    let semantic = Axis::padded(1, options.integer("semantic")? as usize);
    let activation = if options.text("activation")? == "relu" { Activation::Relu } else { Activation::Elu };
    let given = options.optional_text("metapaths");
    let mut paths = Vec::new();
    match given {
        None => {
            for relation in relations.list() {
                let edges = Arc::new(Operator::edges(&relation.messages, reservation)?);
                paths.push(Path { name: relations.name(relation), end: relation.target, edges });
            }
        }
        Some(text) => {
            for path in Metapath::parse(text, &relations)? {
                let edges = Arc::new(path.edges(&relations, reservation)?);
                paths.push(Path { name: path.name, end: path.end, edges });
            }
        }
    }
    let kind_of = |node: u32| kinds.of[node as usize];
    let unreached = |(node, _): &&(u32, u32)| paths.iter().all(|path| path.end != kind_of(*node));
    if let Some((node, _)) = problem.known_labels.iter().find(unreached) {
        let kind = &kinds.names[kind_of(*node) as usize];
        let valid = format!("metapaths of which one leads to {kind}, the type of a node that is trained on");
        return Err(OptionError::invalid("metapaths", given.unwrap_or("NULL"), &valid).into());
    }
    let types = Types::new(kinds, reservation)?;
    let (mut b, columns) = (Builder::new(problem, reservation), Axis::padded(heads, options.hidden));
    if options.layers == 1 {
        let x = b.input(options.dropout);
        let z = b.affine(x, "output", problem.n_outputs);
        return Ok(b.finish(z)?);
    }
    let mut m = projected(&mut b, &relations, columns, options.dropout);
    for layer in 0..options.layers - 1 {
        let mut z = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let mask = b.attention_mask(layer * paths.len() + number, attention_p);
            let name = format!("{layer}.{}", path.name);
            let attended = b.pair_attention(&path.edges, m, &name, heads, slope, mask)?;
            z.push(b.activation(attended, activation));
        }
        let ends: Vec<u32> = paths.iter().map(|path| path.end).collect();
        let h =
            if z.is_empty() { m } else { types.joined(&mut b, &z, &ends, &format!("{layer}.semantic"), semantic)? };
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        m = h;
        if layer + 2 < options.layers {
            let initial = Initial::glorot(columns.len(), columns.len());
            let next = layer + 1;
            m = b.kind_linear(h, kinds, |kind| format!("{next}.input.{kind}.weight"), columns, &initial);
            m = b.kind_bias(m, kinds, format!("{next}.input.bias"), Initial::Zeros);
        }
    }
    let z = b.affine(m, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}

/// From nodes to their types and back.
struct Types {
    /// The mean over the nodes of each type.
    means: Arc<Operator>,
    /// To each node what its type has.
    back: Arc<Operator>,
    n: usize,
}

impl Types {
    fn new(kinds: &Kinds, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let (n, types) = (kinds.of.len(), kinds.names.len());
        reservation.grow(2 * Operator::matrix_bytes(n, n) + 8 * types)?;
        let mut members = vec![Vec::new(); types];
        (0u32..).zip(&*kinds.of).for_each(|(node, &kind)| members[kind as usize].push(node));
        let (mut offsets, mut values) = (vec![0], Vec::new());
        for members in &members {
            values.extend(std::iter::repeat_n(1.0 / members.len() as f32, members.len()));
            offsets.push(values.len());
        }
        let means = Operator::rectangular(offsets, members.concat(), values, n);
        let back = Operator::rectangular((0..=n).collect(), kinds.of.to_vec(), vec![1.0; n], types);
        Ok(Self { means: Arc::new(means), back: Arc::new(back), n: types })
    }

    /// The sum of the metapaths' representations, each with its weight in a node's type.
    fn joined(
        &self,
        b: &mut Builder<'_, '_>,
        z: &[Slot],
        ends: &[u32],
        name: &str,
        columns: Axis,
    ) -> Result<Slot, Stopped> {
        let (rows, one) = (b.axis(z[0]), Axis::exact(1));
        let weights = Initial::glorot(rows.len(), columns.len());
        let weights = b.parameter(format!("{name}.weight"), rows, columns, weights);
        let bias = b.parameter(format!("{name}.bias"), one, columns, Initial::Zeros);
        let query = b.parameter(format!("{name}.query"), one, columns, Initial::glorot(columns.len(), 1));
        let mut scores = Vec::new();
        for &z in z {
            let y = b.linear_with(z, weights);
            let y = b.shift(y, bias);
            let y = b.activation(y, Activation::Tanh);
            scores.push(b.carry(&self.means, y));
        }
        let (paths, types) = (Axis::padded(1, ends.len()), self.n);
        scores.push(b.constant(Space::Rows(types), paths, |values| {
            for (kind, row) in (0u32..).zip(values.chunks_exact_mut(paths.stride())) {
                row.iter_mut().zip(ends).for_each(|(value, end)| *value = if *end == kind { 0.0 } else { ELSEWHERE });
            }
        })?);
        let gates = b.rows(SemanticWeights, &scores, &[query], ends.len());
        let gates = b.carry(&self.back, gates);
        Ok(b.mix_rows(z, gates))
    }
}

/// Added to the score of a metapath that leads to another type: its weight is then 0.
const ELSEWHERE: f32 = -1e30;

/// The softmax over the metapaths of `<q, x_p>` plus the last input, which has a column a metapath.
#[derive(Debug)]
struct SemanticWeights;

impl Rowwise for SemanticWeights {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> candle_core::Result<Tensor> {
        let [paths @ .., elsewhere] = x else { candle_core::bail!("metapaths have scores") };
        let query = w[0].t()?.contiguous()?;
        let scores = paths.iter().map(|x| x.matmul(&query)).collect::<candle_core::Result<Vec<_>>>()?;
        candle_nn::ops::softmax(&(Tensor::cat(&scores, 1)? + elsewhere)?, 1)
    }
}
