//! Graph attention in each relation (Velickovic et al. 2018, Eq. 1-6; Lin et al. 2024, H2GB).

use std::sync::Arc;

use bonnet_graph::Reservation;

use super::{ON_NODES_AND_LINKS, RELATIONS, input};
use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::attention::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::{TYPED, reach};
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::{Defaults, OptionSpec};
use crate::program::{Builder, Program, Source};

/// The registration: the defaults are those of gat.
pub const SPEC: ModelSpec = ModelSpec {
    name: "r_gat",
    family: TYPED,
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Velickovic, Cucurull, Casanova, Romero, Lio and Bengio 2018, Graph attention networks; by relation as Lin et al. \
             2024, When heterophily meets heterogeneity",
    defaults: Defaults {
        epochs: 200,
        lr: 0.005,
        weight_decay: 5e-4,
        optimizer: "adam",
        hidden: 8,
        layers: 2,
        dropout: 0.6,
    },
    own: &[
        RELATIONS,
        OptionSpec::integer("heads", 8, [1, MAX_HEADS as i64], "attention heads of the hidden layers, concatenated"),
        OptionSpec::integer("output_heads", 1, [1, MAX_HEADS as i64], "attention heads of the last layer, averaged"),
        OptionSpec::real(
            "attention_dropout",
            0.6,
            [0.0, 1.0],
            "probability that an attention coefficient is dropped in training",
        ),
        OptionSpec::real("negative_slope", 0.2, [0.0, 1.0], "slope of the leaky rectifier of the scores below 0"),
    ],
    reach: reach::A_LAYER,
    build,
};

/// `h_i <- elu(sum over the relations r into the type t of i of (heads side by side of sum_j alpha_ij h_j W_r) + b_t)` on
/// `dropout(H_{l-1})`, the softmax inside a relation: over the neighbours in it, and the node itself where a relation stays
/// within a type. With `relations => 'mean'` the mean in place of the sum. The last layer averages its heads and has no elu.
/// Weights and attention vectors start as gat's.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let (kinds, into) = (relations.kinds(), relations.count_into_types());
    let slope = options.real("negative_slope")? as f32;
    let attention_p = options.real("attention_dropout")?;
    let (heads, output_heads) = (options.integer("heads")? as usize, options.integer("output_heads")? as usize);
    let mean = options.text("relations")? == "mean";
    let mut edges = Vec::new();
    for relation in relations.list() {
        let operator = match relation.source == relation.target {
            true => Operator::attention_within(&relation.messages, kinds, relation.target, reservation)?,
            false => Operator::edges(&relation.messages, reservation)?,
        };
        edges.push((relations.name(relation), Arc::new(operator), relation.target));
    }
    let mut b = Builder::new(problem, reservation);
    let layer = |b: &mut Builder<'_, '_>, x: Source, layer: usize, heads: usize, width: usize| {
        let (rows, columns) = (b.source_axis(x), Axis::padded(heads, width));
        let mut terms = Vec::new();
        for (number, (name, operator, target)) in edges.iter().enumerate() {
            let initial = Initial::glorot(rows.len(), columns.len());
            let weights = b.parameter(format!("{layer}.{name}.weight"), rows, columns, initial);
            let z = b.linear_with(x, weights);
            let mask = b.attention_mask(layer * edges.len() + number, attention_p);
            let z = b.pair_attention(operator, z, &format!("{layer}.{name}"), heads, slope, mask)?;
            terms.push((z, if mean { 1.0 / into[*target as usize] as f64 } else { 1.0 }));
        }
        match &terms[..] {
            // Without relations nothing comes to a node.
            [] => {
                let space = b.nodes();
                b.constant(space, columns, |_| {})
            }
            [(one, _)] => Ok(*one),
            terms => Ok(b.sum(terms)),
        }
    };
    let mut x = input(&mut b, &relations, options);
    let last = options.layers - 1;
    for l in 0..last {
        let z = layer(&mut b, x, l, heads, options.hidden)?;
        let z = b.kind_bias(z, kinds, format!("{l}.bias"), Initial::Zeros);
        let h = b.activation(z, Activation::Elu);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let mut z = layer(&mut b, x, last, output_heads, problem.n_outputs)?;
    if output_heads > 1 {
        z = b.mean_heads(z, output_heads, problem.n_outputs);
    }
    let z = b.kind_bias(z, kinds, format!("{last}.bias"), Initial::Zeros);
    Ok(b.finish(z)?)
}
