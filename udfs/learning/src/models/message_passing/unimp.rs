//! The unified message passing model, with masked labels as an input (Shi et al. 2021, Sec. 3).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::kernels::edge::MAX_HEADS;
use crate::kernels::elementwise::Activation;
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::DIRECTION;
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::given_labels::GivenLabels;
use crate::program::{Builder, Program, Slot, Source};

/// The registration: the paper's setting for ogbn-arxiv.
pub const SPEC: ModelSpec = ModelSpec {
    name: "unimp",
    family: "attention",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Shi, Huang, Feng, Zhong, Wang and Sun 2021, Masked label prediction: unified message passing model for \
             semi-supervised classification",
    defaults: Defaults { lr: 0.001, hidden: 128, layers: 3, dropout: 0.3, ..COMMON },
    own: &[
        DIRECTION,
        OptionSpec::integer(
            "heads",
            2,
            [1, MAX_HEADS as i64],
            "attention heads: concatenated in hidden layers, averaged in the last",
        ),
        OptionSpec::real(
            "attention_dropout",
            0.0,
            [0.0, 1.0],
            "probability that an attention coefficient is dropped in training",
        ),
        OptionSpec::real(
            "label_rate",
            0.0,
            [0.0, 1.0],
            "probability that a training node's class is an input in an epoch, which learns those of the others; \
                          0 is no such input",
        ),
    ],
    reach: reach::A_LAYER,
    build,
};

/// A layer: `m_i = heads side by side of sum over the neighbours j of softmax_j(<q_i, k_j> / sqrt(d)) v_j`, residual
/// `r = H W_r + b_r`, gate `beta = sigmoid(w' [m, r, m - r])`, `H <- relu(layer norm((1 - beta) m + beta r))`. The last layer
/// averages its heads and ends with the gated sum. No loops: a node sees itself through the residual. Linear layers start
/// as in PyTorch.
///
/// With a `label_rate` a learnt row of each class is added to the features, after their dropout, of the training nodes whose
/// class is given (`H_0 = X + Y V`). In an epoch each is given with that probability, and the loss is that of the others, so
/// that no output is trained on a class that it reads. Figures of other nodes are those with all training classes given.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let (heads, attention_p) = (options.integer("heads")? as usize, options.real("attention_dropout")?);
    let edges = Arc::new(Operator::edges(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let labels = match options.real("label_rate")? {
        0.0 => None,
        rate if options.task != Task::NodeClassification => {
            return Err(OptionError::invalid("label_rate", rate, "0 for this task: its nodes have no classes").into());
        }
        rate => Some(b.given_labels("labels.weight", rate)?),
    };
    let form = Form { edges, heads, attention_p, labels };
    b.initial(|inputs, _| Initial::linear(inputs));
    let mut h = Source::from(b.input(options.dropout));
    for layer in 0..options.layers - 1 {
        let z = form.layer(&mut b, h, layer, options.hidden, false)?;
        let z = b.layer_norm(z, &format!("{layer}.norm"));
        let z = b.relu(z);
        let z = b.dropout(z, options.dropout);
        b.embedding(z);
        h = z.into();
    }
    let z = form.layer(&mut b, h, options.layers - 1, problem.n_outputs, true)?;
    Ok(b.finish(z)?)
}

/// The operator and the options of all layers.
struct Form {
    edges: Arc<Operator>,
    heads: usize,
    attention_p: f64,
    /// The known labels that the first layer reads beside the features.
    labels: Option<GivenLabels>,
}

impl Form {
    /// `(1 - beta) m + beta r`, `width` columns a head, or in all where they are averaged.
    fn layer(
        &self,
        b: &mut Builder<'_, '_>,
        h: Source,
        layer: usize,
        width: usize,
        average: bool,
    ) -> Result<Slot, Stopped> {
        let grouped = Axis::padded(self.heads, width);
        let joined = if average { Axis::padded(1, width) } else { grouped };
        let name = |name: &str| format!("{layer}.{name}");
        let labels = self.labels.as_ref().filter(|_| layer == 0);
        let query = affine(b, h, labels, &name("query"), grouped)?;
        let key = affine(b, h, labels, &name("key"), grouped)?;
        let value = affine(b, h, labels, &name("value"), grouped)?;
        let skip = affine(b, h, labels, &name("skip"), joined)?;
        let mut message = b.dot_attention(&self.edges, [query, key, value], self.heads, self.attention_p)?;
        if average {
            message = b.mean_heads(message, self.heads, width);
        }
        let difference = b.sum(&[(message, 1.0), (skip, -1.0)]);
        let scores = [("message", message), ("skip", skip), ("difference", difference)]
            .map(|(part, x)| (b.linear(x, name(&format!("gate.{part}")), 1), 1.0));
        let gate = b.sum(&scores);
        let gate = b.activation(gate, Activation::Sigmoid);
        let moved = b.mix_rows(&[difference], gate);
        Ok(b.sum(&[(message, 1.0), (moved, -1.0)]))
    }
}

/// `X W + b` with grouped columns; with labels, `(X + Y V) W + b`.
fn affine(
    b: &mut Builder<'_, '_>,
    x: Source,
    labels: Option<&GivenLabels>,
    name: &str,
    columns: Axis,
) -> Result<Slot, Stopped> {
    let rows = b.source_axis(x);
    let initial = Initial::linear(rows.len());
    let weights = b.parameter(format!("{name}.weight"), rows, columns, initial);
    let mut z = b.linear_with(x, weights);
    if let Some(labels) = labels {
        z = b.add_labels(z, labels, weights)?;
    }
    Ok(b.bias(z, format!("{name}.bias")))
}
