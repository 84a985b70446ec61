//! Adaptive channel mixing GCN (Luan et al. 2022, Sec. 5).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{BuildError, Initial, OptionError};
use crate::kernels::elementwise::Activation;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::{DIRECTION, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::{Builder, Program, Slot, Source};

/// The registration: the defaults of the authors' program.
pub const SPEC: ModelSpec = ModelSpec {
    name: "acm_gcn",
    family: "heterophily",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Luan, Hua, Lu, Zhu, Zhao, Zhang, Chang and Precup 2022, Revisiting heterophily for graph neural networks",
    defaults: Defaults { lr: 0.05, weight_decay: 1e-3, ..COMMON },
    own: &[
        OptionSpec::choice(
            "variant",
            "acm",
            &["acm", "acm+", "acm++", "acmii", "acmii+", "acmii++"],
            "acm filters before the relu of a channel, acmii after it; + weighs channels by their \
                          layer-normalised rows; ++ also adds a linear layer of the features to hidden layers",
        ),
        OptionSpec::integer(
            "structure_info",
            0,
            [0, 1],
            "1: the rows of the adjacency matrix, which with arcs hold those that a node's arcs lead to, are a fourth channel of \
             every layer",
        ),
        DIRECTION,
        WEIGHTS,
    ],
    // The rows of the adjacency matrix are those of all nodes.
    reach: Some(|options| match options.integer("structure_info")? {
        0 => Ok(options.layers),
        info => Err(OptionError::invalid("structure_info", info, "0 where neighbours are sampled")),
    }),
    build,
};

/// Channels of a layer with `P = (D + I)^-1 (A + I)`: `L = relu(P H W_L)`, `H = relu((I - P) H W_H)`, `I = relu(H W_I)` and
/// perhaps `S = relu(A W_S)`; ACMII filters after the relu. A node weighs its `k` channels by
/// `softmax([sigmoid(L w_L), sigmoid(H w_H), ...] / k * W_mix)`, and the layer is the weighted sum, `relu` between layers.
/// Starts as the authors' program: uniform within `1 / sqrt(outputs)`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, p) = (problem.options, problem.options.dropout);
    let variant = options.text("variant")?;
    if options.reads_weights() && options.integer("structure_info")? > 0 {
        let valid = "false with structure_info => 1, whose channel has the edges alone";
        return Err(OptionError::invalid("weights", "true", valid).into());
    }
    let form = Form {
        filters_last: variant.starts_with("acmii"),
        normalises: variant.ends_with('+'),
        operator: Arc::new(Operator::mean_with_loops(&problem.graph, reservation)?),
    };
    let structure = match options.integer("structure_info")? {
        0 => None,
        _ => Some(Arc::new(problem.adjacency_rows(reservation)?)),
    };
    let mut b = Builder::new(problem, reservation);
    b.initial(|_, outputs| Initial::linear(outputs));
    let x = b.input(p);
    let structure = structure.map(|adjacency| b.features(adjacency, 0.0));
    let mut h = Source::from(x);
    let residual = if variant.ends_with("++") && options.layers > 1 {
        b.initial(|inputs, _| Initial::linear(inputs));
        let residual = b.affine(x, "residual", options.hidden);
        b.initial(|_, outputs| Initial::linear(outputs));
        let residual = b.relu(residual);
        Some(b.dropout(residual, p))
    } else {
        None
    };
    for layer in 0..options.layers - 1 {
        let mixed = form.layer(&mut b, h, structure.map(Source::from), layer, options.hidden);
        let mixed = b.relu(mixed);
        let mixed = b.dropout(mixed, p);
        let mixed = residual.map_or(mixed, |residual| b.sum(&[(mixed, 1.0), (residual, 1.0)]));
        b.embedding(mixed);
        h = mixed.into();
    }
    let z = form.layer(&mut b, h, structure.map(Source::from), options.layers - 1, problem.n_outputs);
    Ok(b.finish(z)?)
}

/// The operator and the options of all layers.
struct Form {
    filters_last: bool,
    normalises: bool,
    operator: Arc<Operator>,
}

impl Form {
    fn layer(&self, b: &mut Builder<'_, '_>, h: Source, structure: Option<Source>, layer: usize, width: usize) -> Slot {
        let mut channels = vec![("low", h), ("high", h), ("identity", h)];
        channels.extend(structure.map(|structure| ("structure", structure)));
        let (mut slots, mut scores) = (Vec::new(), Vec::new());
        for &(name, source) in &channels {
            let mut x = b.linear(source, format!("{layer}.{name}.weight"), width);
            if self.filters_last {
                x = b.relu(x);
            }
            x = match name {
                "low" => b.propagate(&self.operator, x),
                "high" => b.propagate_plus(&self.operator, -1.0, x, 1.0, x),
                _ => x,
            };
            if !self.filters_last {
                x = b.relu(x);
            }
            let seen = if self.normalises { b.layer_norm(x, &format!("{layer}.{name}")) } else { x };
            let score = b.linear(seen, format!("{layer}.{name}.attention"), 1);
            scores.push(b.activation(score, Activation::Sigmoid));
            slots.push(x);
        }
        let scores = b.concat(&scores);
        let mixed = b.linear(scores, format!("{layer}.mix"), channels.len());
        let mixed = b.sum(&[(mixed, 1.0 / channels.len() as f64)]);
        let alpha = b.row_softmax(mixed);
        b.mix_rows(&slots, alpha)
    }
}
