//! Message passing on cells (Bodnar, Frasca, Otter, Wang, Lio, Montufar and Bronstein 2021, CW networks).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::COMPLEX_TASKS;
use crate::complexes::Pairs;
use crate::ground::{BuildError, OptionError};
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem, complexes};
use crate::network::Statistics;
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION, NO_YES};
use crate::options::{Defaults, ModelOptions, OF_COMPLEXES, OptionSpec};
use crate::program::{Builder, Program, Slot};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "cellmp",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Bodnar, Frasca, Otter, Wang, Lio, Montufar and Bronstein 2021, Weisfeiler and Lehman go cellular: CW networks",
    defaults: Defaults { layers: 10, dropout: 0.5, ..OF_COMPLEXES },
    own: &[
        BATCH_OF_COMPLEXES,
        DIMENSION,
        OptionSpec::choice(
            "norm",
            "batch",
            &["batch", "batch_running", "layer", "none"],
            "normalisation inside each perceptron. batch, as in the paper: over the simplices of a dimension in a step; without \
             training by the moments of the training simplices, which are measured under the current weights before each score \
             (on the first batches, 2,048 complexes) and saved, so that an output does not depend on which others are computed. \
             batch_running: without training by a moving average of the moments of the steps, which lags behind the weights: \
             outputs are far off where a column is nearly constant. layer: over the columns of a simplex",
        ),
        OptionSpec::choice(
            "lower",
            "false",
            NO_YES,
            "whether simplices also receive messages from those with a common face, which read the face as well (lower adjacency); \
             the paper's sparse form, which the benchmark runs, leaves them out, at no loss of power",
        ),
    ],
    reach: None,
    build,
};

/// The normalisation between the linear layer and the rectifier of a perceptron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Norm {
    Batch(Statistics),
    Layer,
    Nothing,
}

impl Norm {
    fn of(options: &ModelOptions<'_>) -> Result<Self, OptionError> {
        Ok(match options.text("norm")? {
            "layer" => Self::Layer,
            "none" => Self::Nothing,
            "batch_running" => Self::Batch(Statistics::Running),
            _ => Self::Batch(Statistics::Population),
        })
    }

    /// `relu(norm(W x + b))`; a batch's mean takes the place of b.
    fn block(self, b: &mut Builder<'_, '_>, x: Slot, name: &str, width: usize) -> Result<Slot, Stopped> {
        let z = match self {
            Self::Batch(statistics) => {
                let z = b.linear(x, format!("{name}.weight"), width);
                b.batch_norm(z, &format!("{name}.norm"), statistics)?
            }
            Self::Layer => {
                let z = b.affine(x, name, width);
                b.layer_norm(z, &format!("{name}.norm"))
            }
            Self::Nothing => b.affine(x, name, width),
        };
        Ok(b.relu(z))
    }
}

/// `x + sum over the pairs of each simplex of relu(W [h_other | h_shared])`, h the rows of the simplices and of what they share.
fn with_messages(
    b: &mut Builder<'_, '_>,
    pairs: &Pairs,
    [x, of_shared]: [Slot; 2],
    name: &str,
    shared: &str,
    width: usize,
) -> Slot {
    let neighbor = b.linear(x, format!("{name}.neighbor"), width);
    let of_shared = b.linear(of_shared, format!("{name}.{shared}"), width);
    let message = b.carry(&pairs.other, neighbor);
    let message = b.carry_plus(&pairs.shared, of_shared, message);
    let message = b.bias(message, format!("{name}.bias"));
    let message = b.relu(message);
    b.carry_plus(&pairs.sum, message, x)
}

/// `h <- MLP(MLP_B(h + sum of the faces' rows) | MLP_up(h + sum over simplices t that share a coface d of
/// relu(W [h_t | h_d])))`, with `lower` also `| MLP_down(h + sum over simplices t that share a face d of relu(V [h_t | h_d]))`
/// for other simplices than vertices. The features of each dimension go through an affine layer first. Sums of each
/// dimension go through a layer of twice the width, are added and read by a linear layer.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let (norm, down, width) = (Norm::of(&options)?, options.text("lower")? == "true", options.hidden);
    let top = batch.dimension();
    let mut b = Builder::new(problem, reservation);
    // Those of dimension k at k - 1, but upper pairs at k.
    let (mut faces, mut upper, mut lower) = (Vec::new(), Vec::new(), Vec::new());
    for k in 1..=top {
        faces.push(Arc::new(batch.coboundary(k, false, b.reservation())?));
        upper.push(batch.upper_pairs(k - 1, b.reservation())?);
        if down {
            lower.push(batch.lower_pairs(k, b.reservation())?);
        }
    }
    let mut h = Vec::new();
    for k in 0..=top {
        let x = complexes::input(&mut b, batch, k)?;
        h.push(b.affine(x, &format!("embed.{k}"), width));
    }
    for l in 0..options.layers {
        let mut next = Vec::with_capacity(top + 1);
        for k in 0..=top {
            let mut sums = vec![(h[k], "below"), (h[k], "above")];
            if k > 0 {
                sums[0].0 = b.carry_plus(&faces[k - 1], h[k - 1], h[k]);
            }
            if k < top {
                sums[1].0 =
                    with_messages(&mut b, &upper[k], [h[k], h[k + 1]], &format!("{l}.{k}.message"), "coface", width);
            }
            if down && k > 0 {
                let name = format!("{l}.{k}.lower_message");
                sums.push((with_messages(&mut b, &lower[k - 1], [h[k], h[k - 1]], &name, "face", width), "beside"));
            }
            let mut parts = Vec::with_capacity(sums.len());
            for (x, name) in sums {
                let z = norm.block(&mut b, x, &format!("{l}.{k}.{name}.0"), width)?;
                parts.push(norm.block(&mut b, z, &format!("{l}.{k}.{name}.1"), width)?);
            }
            let all = b.concat(&parts);
            let z = norm.block(&mut b, all, &format!("{l}.{k}.update"), width)?;
            next.push(b.dropout(z, options.dropout));
        }
        h = next;
    }
    let mut terms = Vec::new();
    for (k, &h) in h.iter().enumerate() {
        let pooled = complexes::sum(&mut b, batch, k, h)?;
        let z = b.affine(pooled, &format!("read_out.{k}"), 2 * width);
        terms.push((b.relu(z), 1.0));
    }
    let z = b.sum(&terms);
    b.embedding(z);
    let z = b.dropout(z, options.dropout);
    let out = b.affine(z, "read_out", problem.n_outputs);
    Ok(b.finish(out)?)
}
