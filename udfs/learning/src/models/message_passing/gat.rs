//! Graph attention network (Velickovic et al. 2018, Eq. 1-6).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::kernels::attention::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::DIRECTION;
use crate::options::{Defaults, OptionSpec, Task};
use crate::program::{Builder, Program, Source};

/// The registration: the defaults are those of the paper for Cora.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gat",
    family: "message passing",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Velickovic, Cucurull, Casanova, Romero, Lio and Bengio 2018, Graph attention networks",
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
        DIRECTION,
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

/// `H_l = elu(heads side by side of sum_j alpha_ij W_l dropout(H_{l-1})_j + b_l)` over the neighbours and the node itself;
/// the last layer averages its heads and has no elu. Weights and attention vectors start as Glorot and Bengio's (a
/// vector: one input a head, as PyTorch Geometric counts), biases at 0.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let slope = options.real("negative_slope")? as f32;
    let attention_p = options.real("attention_dropout")?;
    let (heads, output_heads) = (options.integer("heads")? as usize, options.integer("output_heads")? as usize);
    let operator = Arc::new(Operator::attention(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let layer = |b: &mut Builder<'_, '_>, x: Source, l: usize, heads: usize, width: usize| {
        let (rows, columns) = (b.source_axis(x), Axis::padded(heads, width));
        let weights = Initial::glorot(rows.len(), columns.len());
        let weights = b.parameter(format!("{l}.weight"), rows, columns, weights);
        let z = b.linear_with(x, weights);
        let mask = b.attention_mask(l, attention_p);
        b.pair_attention(&operator, z, &l.to_string(), heads, slope, mask)
    };
    let mut x: Source = x.into();
    let last = options.layers - 1;
    for l in 0..last {
        let z = layer(&mut b, x, l, heads, options.hidden)?;
        let z = b.bias(z, format!("{l}.bias"));
        let h = b.activation(z, Activation::Elu);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let mut z = layer(&mut b, x, last, output_heads, problem.n_outputs)?;
    if output_heads > 1 {
        z = b.mean_heads(z, output_heads, problem.n_outputs);
    }
    let z = b.bias(z, format!("{last}.bias"));
    Ok(b.finish(z)?)
}
