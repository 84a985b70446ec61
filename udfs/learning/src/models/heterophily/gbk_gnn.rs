//! Gated bi-kernel graph neural network (Du et al. 2022, Sec. 4).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use crate::ground::BuildError;
use crate::kernels::edge::Gate;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::DIRECTION;
use crate::options::{COMMON, OptionSpec};
use crate::program::layers::edges::gated_sum::{GateLoss, Gates};
use crate::program::{Builder, Program, Slot, Source};

/// The registration: the width and the factor of the re-evaluation by Luan et al. 2024 (App. A.1).
pub const SPEC: ModelSpec = ModelSpec {
    name: "gbk_gnn",
    family: "heterophily",
    geometry: "euclidean",
    // The gates learn from the classes of the training nodes.
    tasks: &["node_classification"],
    source: "Du, Shi, Fu, Ma, Liu, Han and Zhang 2022, GBK-GNN: gated bi-kernel graph neural networks for modeling both \
             homophily and heterophily",
    defaults: COMMON,
    own: &[
        OptionSpec::real(
            "gate_loss",
            30.0,
            [0.0, f64::INFINITY],
            "factor of the gates' loss: the cross-entropy, over the edges between training nodes, of whether the two have \
             one class",
        ),
        DIRECTION,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `h_i <- relu(W_f h_i + b + 1 / d_i sum over the neighbours j of (alpha_ij W_s h_j + (1 - alpha_ij) W_d h_j))` with the
/// gate `alpha_ij = sigmoid(u' h_i + v' h_j + c)`: one kernel for neighbours of the same class, one for others. The last
/// layer has no relu; dropout stands between layers. The loss of training is that of the task plus `gate_loss` times the sum
/// of the layers' gate losses, each the mean over the edges between training nodes.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, graph) = (problem.options, &problem.graph);
    let weight = options.real("gate_loss")?;
    let edges = Arc::new(Operator::edges(graph, reservation)?);
    let mean = Arc::new(Operator::mean(graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let loss = (weight > 0.0 && !problem.known_labels.is_empty())
        .then(|| GateLoss { known: Arc::clone(&problem.known_labels), weight });
    let form = Form { edges, mean, loss };
    let mut h = Source::from(b.input(0.0));
    for layer in 0..options.layers - 1 {
        let z = form.layer(&mut b, h, layer, options.hidden)?;
        let z = b.relu(z);
        let z = b.dropout(z, options.dropout);
        b.embedding(z);
        h = z.into();
    }
    let z = form.layer(&mut b, h, options.layers - 1, problem.n_outputs)?;
    Ok(b.finish(z)?)
}

/// The operator and the options of all layers.
struct Form {
    edges: Arc<Operator>,
    mean: Arc<Operator>,
    loss: Option<GateLoss>,
}

impl Form {
    fn layer(&self, b: &mut Builder<'_, '_>, h: Source, layer: usize, width: usize) -> Result<Slot, Stopped> {
        let mut linear = |name: &str, width| b.linear(h, format!("{layer}.{name}"), width);
        let (own, similar, dissimilar) =
            (linear("self.weight", width), linear("similar.weight", width), linear("dissimilar.weight", width));
        let (target, source) = (linear("gate.target", 1), linear("gate.source", 1));
        let target = b.bias(target, format!("{layer}.gate.bias"));
        // alpha s + (1 - alpha) d = d + alpha (s - d).
        let difference = b.sum(&[(similar, 1.0), (dissimilar, -1.0)]);
        let share = |i: u32, _| 1.0 / self.edges.row(i).len() as f32;
        let gates = Gates { gate: Gate::Sigmoid, dropout: 0.0, loss: self.loss.clone() };
        let chosen = b.gated_sum(&self.edges, share, gates, [target, source, difference])?;
        let all = b.propagate_plus(&self.mean, 1.0, dissimilar, 1.0, own);
        let z = b.sum(&[(all, 1.0), (chosen, 1.0)]);
        Ok(b.bias(z, format!("{layer}.bias")))
    }
}
