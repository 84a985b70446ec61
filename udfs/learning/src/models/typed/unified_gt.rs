//! A graph transformer composed of its parts (Lin et al. 2024, H2GB, Sec. 4): the attention, its mask, the block behind it, and what
//! stands before; sampling (`batch_nodes`), encodings and known labels are options of every model.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::entries;
use super::masks::Mask;
use super::{ON_NODES_AND_LINKS, projected};
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::edge::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::{Reach, TYPED};
use crate::models::tokens::{affine, feed_forward};
use crate::models::{ModelSpec, Problem};
use crate::network::{Kinds, Operator, StackedSources};
use crate::options::{COMMON, Defaults, Domain, ModelOptions, OptionSpec};
use crate::program::layers::edges::terms::EntryTerms;
use crate::program::{Builder, Program, Slot};

/// The registration: two layers of attention, of one hgt has.
pub const SPEC: ModelSpec = ModelSpec {
    name: "unified_gt",
    family: TYPED,
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Lin et al. 2024, When heterophily meets heterogeneity: challenges and a new large-scale graph benchmark (UnifiedGT)",
    defaults: Defaults { weight_decay: 1e-5, optimizer: "adamw", ..TRANSFORMER },
    own: &[
        OptionSpec::choice(
            "attention",
            "cross_type",
            &["cross_type", "relation", "plain"],
            "cross_type, that of hgt: queries, keys and values by type, products of keys and values with weights of each relation, and \
             a gate by type. relation: one for all types, and to each score is added a learnt number of its relation and head. \
             plain: that without these, over each neighbour once",
        ),
        OptionSpec::choice(
            "mask",
            "direct",
            &["direct", "hops", "metapaths", "none"],
            "what a node attends to. direct: its neighbours in each relation. hops: them, and itself and all others within hops edges as \
             one relation more. metapaths: what each of metapaths leads from, a relation a path. none: all nodes, those without an edge \
             as one relation more; nodes squared in memory, on the whole graph alone",
        ),
        OptionSpec::new(
            "hops",
            Domain::OptionalInteger { min: 1, max: 16 },
            "with mask => hops, the edges that attention goes over; NULL is 2",
        ),
        OptionSpec::new(
            "metapaths",
            Domain::Text { forms: super::metapaths::FORMS },
            "with mask => metapaths, these, between commas, as han has them",
        ),
        OptionSpec::choice(
            "feed_forward",
            "none",
            &["none", "shared", "by_type"],
            "the block behind attention, x + W_2 gelu(W_1 norm(x)): none, one for all nodes, or one for each type",
        ),
        OptionSpec::new(
            "feed_forward_width",
            Domain::OptionalInteger { min: 1, max: 65_536 },
            "the width within that block; NULL is twice that of all heads",
        ),
        OptionSpec::integer(
            "graph_layers",
            0,
            [0, 64],
            "layers of gcn on all edges before the layers of attention, and a layer normalisation behind them",
        ),
        HEADS,
        ATTENTION_DROPOUT,
    ],
    reach: REACH,
    build: |problem, reservation| composed(problem, Composition::of(&problem.options)?, reservation),
};

/// The defaults of hgt.
pub(super) const TRANSFORMER: Defaults =
    Defaults { lr: 0.005, weight_decay: 1e-3, hidden: 8, layers: 3, dropout: 0.2, ..COMMON };

/// The heads of an attention.
pub(super) const HEADS: OptionSpec =
    OptionSpec::integer("heads", 8, [1, MAX_HEADS as i64], "attention heads, concatenated");

/// The dropout of its coefficients.
pub(super) const ATTENTION_DROPOUT: OptionSpec = OptionSpec::real(
    "attention_dropout",
    0.0,
    [0.0, 1.0],
    "probability that an attention coefficient is dropped in training",
);

/// Of each layer of attention, all layers but the last, the edges that its mask goes over; then one of each layer before them.
const REACH: Option<Reach> = Some(|options| {
    let composition = Composition::of(options)?;
    let of_mask = match composition.mask {
        Mask::Direct => 1,
        Mask::Hops(hops) => hops,
        // A step is written with a type and perhaps a relation.
        Mask::Metapaths(text) => text.split(',').map(|path| path.matches('>').count()).max().unwrap_or(0),
        Mask::None => {
            let valid = "direct, hops or metapaths where neighbours are sampled: without a mask a node attends to all";
            return Err(OptionError::invalid("mask", "none", valid));
        }
    };
    Ok(composition.graph_layers + (options.layers - 1) * of_mask)
});

/// The attention of a composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attention {
    CrossType,
    Relation,
    Plain,
}

/// The block behind it, with the width within, if that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedForward {
    None,
    Shared(Option<usize>),
    ByType(Option<usize>),
}

/// The parts of a transformer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Composition<'a> {
    pub attention: Attention,
    pub mask: Mask<'a>,
    pub feed_forward: FeedForward,
    /// The layers of gcn before it.
    pub graph_layers: usize,
}

impl<'a> Composition<'a> {
    /// The composition of the options.
    ///
    /// # Errors
    /// If an option says something of a part that is not there, or of one that is says nothing that has to be said.
    fn of(options: &ModelOptions<'a>) -> Result<Self, OptionError> {
        let (mask, hops) = (options.text("mask")?, options.optional_integer("hops"));
        let metapaths = options.optional_text("metapaths");
        if let Some(hops) = hops.filter(|_| mask != "hops") {
            return Err(OptionError::invalid(
                "hops",
                hops,
                &format!("NULL with mask => '{mask}', which counts no edges"),
            ));
        }
        if let Some(text) = metapaths.filter(|_| mask != "metapaths") {
            let valid = format!("NULL with mask => '{mask}', which follows none");
            return Err(OptionError::invalid("metapaths", text, &valid));
        }
        let mask = match mask {
            "hops" => Mask::Hops(hops.unwrap_or(2) as usize),
            "metapaths" => {
                let none = || OptionError::invalid("metapaths", "NULL", super::metapaths::FORMS);
                Mask::Metapaths(metapaths.ok_or_else(none)?)
            }
            "none" => Mask::None,
            _ => Mask::Direct,
        };
        let width = options.optional_integer("feed_forward_width");
        let inner = width.map(|width| width as usize);
        let feed_forward = match options.text("feed_forward")? {
            "shared" => FeedForward::Shared(inner),
            "by_type" => FeedForward::ByType(inner),
            _ => match width {
                None => FeedForward::None,
                Some(width) => {
                    let valid = "NULL with feed_forward => 'none', where there is no such block";
                    return Err(OptionError::invalid("feed_forward_width", width, valid));
                }
            },
        };
        let attention = match options.text("attention")? {
            "relation" => Attention::Relation,
            "plain" => Attention::Plain,
            _ => Attention::CrossType,
        };
        Ok(Self { attention, mask, feed_forward, graph_layers: options.integer("graph_layers")? as usize })
    }
}

/// The features are projected, `h = relu(X W_t + b_t)`; then come `graph_layers` times `h <- relu(P h W + b)`, `P = D^-1/2 (A + I)
/// D^-1/2`, and where there are some `h <- norm(h)`. A layer, of which there are `layers - 1`, is one of attention over what the
/// mask lets through, in heads of `d` columns, then the feed-forward block.
///
/// `cross_type` (Hu et al. 2020, Sec. 3), with the types s of a source and t of a target: queries `q = h Q_t`, keys and values `k = h
/// K_s`, `v = h V_s`, each with a bias; the score of an edge of relation r is `<k W_r, q> mu_r / sqrt(d)`, its softmax runs over all
/// edges into a node, whatever their relation, the message is `v U_r`; `a = gelu(sum) A_t + c_t`, and `h <- g_t a + (1 - g_t) h` with
/// `g_t = sigmoid` of a number a type, 1 at first.
///
/// `relation` and `plain`: `y = norm(h)`, queries, keys and values affine in y, the score `<q, k> / sqrt(d)`, and for `relation` a
/// number `b_rh` of relation and head, 0 at first, added to it; `h <- h + dropout(sum A + c)`.
///
/// The feed-forward block is `h <- h + dropout(W_2 gelu(W_1 norm(h) + b_1) + b_2)`, `by_type` with matrices and biases of each
/// type. The last layer is linear, one for all types.
pub(super) fn composed(
    problem: &Problem<'_>,
    composition: Composition<'_>,
    reservation: &mut Reservation<'_>,
) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let (heads, attention_p) = (options.integer("heads")? as usize, options.real("attention_dropout")?);
    let axis = Axis::padded(heads, options.hidden);
    let masked = composition.mask.relations(&relations, reservation)?;
    let over = match composition.attention {
        Attention::CrossType => Over::Relations(StackedSources::new(&masked, reservation)?),
        Attention::Relation => {
            let (edges, kinds) = entries::of_relations(&masked, false, reservation)?;
            let n = masked.list().len();
            // Without a relation there is nothing to add to.
            Over::Nodes { edges, terms: (n > 0).then(|| EntryTerms::of_kinds(kinds, n)) }
        }
        Attention::Plain => Over::Nodes { edges: entries::of_nodes(&masked, reservation)?, terms: None },
    };
    let form = Form { kinds: relations.kinds(), over, heads, axis, attention_p, p: options.dropout };
    let propagation = match composition.graph_layers {
        0 => None,
        _ => Some(Arc::new(Operator::symmetric(&problem.graph, reservation)?)),
    };
    let mut b = Builder::new(problem, reservation);
    let h = projected(&mut b, &relations, axis, options.dropout);
    let mut h = b.relu(h);
    if let Some(operator) = &propagation {
        for layer in 0..composition.graph_layers {
            let initial = Initial::glorot(axis.len(), axis.len());
            let weights = b.parameter(format!("graph.{layer}.weight"), axis, axis, initial);
            let x = b.dropout(h, options.dropout);
            let z = b.linear_with(x, weights);
            let z = b.propagate(operator, z);
            let z = b.bias(z, format!("graph.{layer}.bias"));
            h = b.relu(z);
        }
        h = b.layer_norm(h, "graph.norm");
    }
    for layer in 0..options.layers - 1 {
        h = match &form.over {
            Over::Relations(stack) => form.cross_type(&mut b, stack, h, layer)?,
            Over::Nodes { edges, terms } => form.shared(&mut b, edges, terms.as_ref(), h, layer)?,
        };
        h = match composition.feed_forward {
            FeedForward::None => h,
            FeedForward::Shared(width) => {
                let width = width.unwrap_or(2 * axis.len());
                feed_forward(&mut b, h, layer, width, options.dropout, |inputs| Initial::glorot(inputs, axis.len()))
            }
            FeedForward::ByType(width) => form.feed_forward_by_type(&mut b, h, layer, width.unwrap_or(2 * axis.len())),
        };
    }
    b.embedding(h);
    let z = b.affine(h, "output", problem.n_outputs);
    Ok(b.finish(z)?)
}

/// What attention runs over.
enum Over {
    /// The sources of each relation.
    Relations(StackedSources),
    /// The nodes themselves.
    Nodes { edges: Arc<Operator>, terms: Option<EntryTerms> },
}

/// What all layers have in common.
struct Form<'a> {
    kinds: &'a Kinds,
    over: Over,
    heads: usize,
    axis: Axis,
    attention_p: f64,
    p: f64,
}

impl Form<'_> {
    fn cross_type(
        &self,
        b: &mut Builder<'_, '_>,
        stack: &StackedSources,
        h: Slot,
        layer: usize,
    ) -> Result<Slot, Stopped> {
        let Self { kinds, heads, axis, attention_p, p, .. } = *self;
        let [query, key, value] =
            ["query", "key", "value"].map(|part| by_type(b, h, kinds, &format!("{layer}.{part}"), axis));
        let factors = Some(format!("{layer}.prior"));
        let key = b.relation_linear(key, stack, heads, |r| format!("{layer}.attention.{r}.weight"), factors);
        let value = b.relation_linear(value, stack, heads, |r| format!("{layer}.message.{r}.weight"), None);
        let message = b.dot_attention(&stack.edges, [query, key, value], heads, attention_p)?;
        let message = b.gelu(message);
        let message = b.dropout(message, p);
        let message = by_type(b, message, kinds, &format!("{layer}.output"), axis);
        let space = b.nodes();
        let zero = b.constant(space, Axis::padded(1, 1), |_| {})?;
        let skip = b.kind_bias(zero, kinds, format!("{layer}.skip"), Initial::Constant(1.0));
        let gate = b.activation(skip, Activation::Sigmoid);
        let change = b.sum(&[(message, 1.0), (h, -1.0)]);
        let change = b.mix_rows(&[change], gate);
        Ok(b.sum(&[(h, 1.0), (change, 1.0)]))
    }

    fn shared(
        &self,
        b: &mut Builder<'_, '_>,
        edges: &Arc<Operator>,
        terms: Option<&EntryTerms>,
        h: Slot,
        layer: usize,
    ) -> Result<Slot, Stopped> {
        let Self { heads, axis, attention_p, p, .. } = *self;
        let initial = || Initial::glorot(axis.len(), axis.len());
        let y = b.layer_norm(h, &format!("{layer}.norm.0"));
        let projected = ["query", "key", "value"].map(|part| affine(b, y, &format!("{layer}.{part}"), axis, initial()));
        let message = match terms {
            None => b.dot_attention(edges, projected, heads, attention_p)?,
            Some(terms) => {
                let name = format!("{layer}.relation");
                let table = b.table(name, terms.rows(), Axis::padded(1, heads), Initial::Zeros)?;
                b.termed_attention(edges, (Arc::new([]), terms.clone(), table), projected, heads, attention_p)?
            }
        };
        let message = affine(b, message, &format!("{layer}.out"), axis, initial());
        let message = b.dropout(message, p);
        Ok(b.sum(&[(h, 1.0), (message, 1.0)]))
    }

    fn feed_forward_by_type(&self, b: &mut Builder<'_, '_>, h: Slot, layer: usize, width: usize) -> Slot {
        let z = b.layer_norm(h, &format!("{layer}.norm.1"));
        let z = by_type(b, z, self.kinds, &format!("{layer}.feed.0"), Axis::padded(1, width));
        let z = b.gelu(z);
        let z = by_type(b, z, self.kinds, &format!("{layer}.feed.1"), self.axis);
        let z = b.dropout(z, self.p);
        b.sum(&[(h, 1.0), (z, 1.0)])
    }
}

/// `x W_t + b_t` with the weights and the bias of each node's type.
fn by_type(b: &mut Builder<'_, '_>, x: Slot, kinds: &Kinds, name: &str, columns: Axis) -> Slot {
    let initial = Initial::glorot(b.axis(x).len(), columns.len());
    let z = b.kind_linear(x, kinds, |kind| format!("{name}.{kind}.weight"), columns, &initial);
    b.kind_bias(z, kinds, format!("{name}.bias"), Initial::Zeros)
}
