//! Structure-aware graph foundation models (Shi et al. 2026, SA2GFM).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result, Tensor, bail};

use super::communities::{Communities, bytes_of_pair};
use super::encoder::{affine, push_affine};
use super::objectives::{bottleneck, link_contrast, link_contrast_bytes};
use super::{
    ADAPT, ALIGNMENT, Adapt, DIM, Domain, FOUNDATION, Foundation, Place, Propagation, REDUCED_ON, Shape, View, Weights,
    build, encoder, temperature, unit_rows,
};
use crate::ground::random::{Stream, key};
use crate::ground::{Axis, Initial, Layout, OptionError, TrainError};
use crate::kernels::Activation;
use crate::models::ModelSpec;
use crate::ops::{activate, dropout};
use crate::options::{Defaults, OptionSpec, Task};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "sa2gfm",
    family: FOUNDATION,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Shi et al. 2026, SA2GFM: robust graph foundation models with structure-aware semantic augmentation; settings: \
             arXiv 2606.06397, its program",
    defaults: Defaults { epochs: 100, lr: 1e-3, ..PRETRAINING },
    own: &[
        OptionSpec::integer(DIM.name, 64, [1, 4096], DIM.description).integer_column(),
        ALIGNMENT,
        ADAPT,
        REDUCED_ON,
        temperature(1.0),
        OptionSpec::integer(
            INNER,
            256,
            [1, 65_536],
            "columns of an expert's layers before the last, and of the perceptron behind it. A job that loads an encoder has that of its \
             pre-training",
        ),
        OptionSpec::real(
            "bottleneck",
            0.0,
            [0.0, f64::INFINITY],
            "the weight in pre-training of the divergence of an expert's rows from a standard normal distribution (0 in the authors' \
             program)",
        ),
        OptionSpec::integer("heads", 4, [2, 64], "similarities of a pair of one community, of 16 columns each"),
        OptionSpec::real(
            "mix",
            0.5,
            [0.0, 1.0_f64.next_up()],
            "the share that a given edge within a community keeps of its weight, beside the similarity of its ends",
        ),
        OptionSpec::integer(
            "pairs_within",
            128,
            [0, 65_536],
            "the largest community of which all pairs are joined by their similarities; of others those with an edge are. Memory \
             grows with nodes times this number",
        ),
        OptionSpec::real(
            "certainty",
            0.1,
            [0.0, f64::INFINITY],
            "the weights in the adaptation of the entropy of the shares of the experts, and of the variance over the heads",
        ),
    ],
    reach: None,
    build,
};

/// The option of the inner width.
pub(super) const INNER: &str = "inner";

/// The setting of CurvBench's program.
const PRETRAINING: Defaults =
    Defaults { epochs: 3000, lr: 1e-3, weight_decay: 0.0, optimizer: "adam", hidden: 64, layers: 2, dropout: 0.2 };

/// Separate the draws from other uses of the seed.
const LINKS: u64 = 61;
const NOISE: u64 = 62;

/// The columns of a head, and what its similarities pass through: those of the authors' program.
const HEAD: usize = 16;
const SHARPNESS: f64 = 5.0;
const MIDDLE: f64 = 0.0;
const CAUTION: f64 = 1.0;

/// How sharply an edge between communities is kept or left by its rank.
const RANK_SHARPNESS: f64 = 10.0;

/// An expert for each source, which learns of that source alone: layers of graph convolution, of `inner` columns and in the end
/// `hidden`, then a perceptron that gives a mean and the logarithm of a variance for each column, and rows `z = mu + eps exp(ln sigma^2 /
/// 2)`. They learn by the contrast of links, and `bottleneck` times `- mean(1 + ln sigma^2 - mu^2 - sigma^2) / 2`, the sum over the
/// sources. Without training rows are `mu`.
///
/// A target has rows `sum_s softmax(r)_s mu_s(x, A')` with learned r and frozen experts, on a graph A' that is made of its communities
/// ([`Communities`], by structural entropy): a pair of one community has the weight `mix A_uv + (1 - mix) sigmoid(5 mean_h c_h) exp(-
/// var_h c_h)`, c_h the cosine of `q_u` and `k_v` in a head, q and k affine in `relu(x P + p)`; an edge between communities has
/// `sigmoid(10 (rank_uv - theta))` with its personalised rank and a learned theta, 0.5 at first; A' is normalised as A is. The entropy
/// of the shares and the mean variance of the pairs, `certainty` times, are made small with the loss. Without prompts rows are the mean of
/// the experts on A.
///
/// Differences to the authors' program: it describes each node by a sentence (its community and neighbours) in the words of a
/// language model, half of the input; here the features may hold vectors of such sentences (`text_vectors`), and the model makes
/// none. Its A' is not normalised, although experts are trained on a normalised A. The paper's null expert, whose rows are 0, scales
/// all rows alike, which changes no cosine and so no output: there is none. Communities are those of the paper's
/// encoding tree, the program's are Louvain's.
#[derive(Debug)]
pub(crate) struct Sa2gfm;

/// The rows of an expert: means, and the logarithms of variances. Its first product with the matrix of the graph, `A x`, is given.
fn expert(
    shape: &Shape<'_>,
    weights: &Weights,
    source: usize,
    (carried, propagation): (&Tensor, &Propagation),
    pass: Option<u64>,
) -> Result<(Tensor, Tensor)> {
    let first = format!("encoder.{source}.0");
    let mut h = encoder::prelu(weights, &first, &carried.matmul(weights.get(&format!("{first}.weight"))?)?)?;
    for l in 1..shape.options.layers {
        shape.check()?;
        let mask = pass.and_then(|pass| shape.mask(key(&[pass, source as u64]), l));
        h = dropout(&h, mask, Axis::exact(shape.integer(INNER)?))?;
        h = encoder::layer(weights, &format!("encoder.{source}.{l}"), &h, |h| propagation.product(h))?;
    }
    let h = affine(weights, &format!("encoder.{source}.perceptron.0"), &h)?.relu()?;
    let both = affine(weights, &format!("encoder.{source}.perceptron.1"), &h)?;
    let hidden = shape.options.hidden;
    Ok((both.narrow(1, 0, hidden)?, both.narrow(1, hidden, hidden)?.clamp(-10.0, 10.0)?))
}

/// Standard normal numbers, as many as a matrix has.
pub(crate) fn noise(like: &Tensor, draw: u64) -> Result<Tensor> {
    let mut stream = Stream::new(draw);
    let values: Vec<f64> = (0..like.elem_count()).map(|_| stream.normal()).collect();
    Tensor::from_vec(values, like.shape(), like.device())?.to_dtype(like.dtype())
}

/// Of each pair of a target, the mean of the cosines over the heads, and their variance (of a sample of heads).
fn similarities(shape: &Shape<'_>, weights: &Weights, x: &Tensor, pairs: &Communities) -> Result<(Tensor, Tensor)> {
    let heads = shape.integer("heads")?;
    let projected = affine(weights, "prompt.projection", x)?.relu()?;
    let unit = |name: &str| {
        let rows = affine(weights, name, &projected)?;
        let n = rows.dim(0)?;
        unit_rows(&rows.reshape((n * heads, HEAD))?)?.reshape((n, heads * HEAD))
    };
    let cosines = pairs.pattern.dots(&unit("prompt.query")?, &unit("prompt.key")?, heads)?;
    let mean = cosines.mean_keepdim(1)?;
    let squares = cosines.broadcast_sub(&mean)?.sqr()?.sum_keepdim(1)?;
    Ok((mean, (squares / (heads - 1) as f64)?))
}

/// The communities of a target.
fn communities(target: &View) -> Result<&Communities> {
    match &target.communities {
        Some(communities) => Ok(communities),
        None => bail!("the target has no communities"),
    }
}

/// The graph A' of a target.
fn refined(shape: &Shape<'_>, weights: &Weights, target: &View) -> Result<Propagation> {
    let pairs = communities(target)?;
    let (mean, variance) = similarities(shape, weights, &target.features, pairs)?;
    let similarity =
        (activate(&((mean - MIDDLE)? * SHARPNESS)?, Activation::Sigmoid)? * (variance * -CAUTION)?.exp()?)?;
    let mix = shape.real("mix")?;
    let within = ((&pairs.edges_within * mix)? + (similarity * (1.0 - mix))?)?;
    let above = pairs.rank.broadcast_sub(weights.get("prompt.threshold")?)?;
    let between = activate(&(above * RANK_SHARPNESS)?, Activation::Sigmoid)?;
    pairs.normalized(&within, &between)
}

/// The shares of the experts, a row.
fn shares(weights: &Weights) -> Result<Tensor> {
    let exponentials = weights.get("prompt.route")?.exp()?;
    exponentials.broadcast_div(&exponentials.sum_keepdim(1)?)
}

impl Foundation for Sa2gfm {
    fn pretraining(&self) -> Defaults {
        PRETRAINING
    }

    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError> {
        let (mut layout, hidden) = (Layout::default(), shape.options.hidden);
        let (inner, layers) = (shape.options.integer(INNER)? as usize, shape.options.layers);
        for source in 0..shape.sources {
            for l in 0..layers {
                let (inputs, outputs) =
                    (if l == 0 { shape.dim } else { inner }, if l + 1 == layers { hidden } else { inner });
                encoder::push_layer(&mut layout, &format!("encoder.{source}.{l}"), inputs, outputs);
            }
            let perceptron = format!("encoder.{source}.perceptron");
            push_affine(&mut layout, &format!("{perceptron}.0"), hidden, inner);
            push_affine(&mut layout, &format!("{perceptron}.1"), inner, 2 * hidden);
        }
        Ok(layout)
    }

    fn prompt(&self, shape: &Shape<'_>) -> Option<Layout> {
        let width = HEAD * shape.options.integer("heads").ok()? as usize;
        let mut layout = Layout::default();
        layout.push("prompt.route".into(), Axis::exact(1), Axis::exact(shape.sources), Initial::Zeros);
        layout.push("prompt.threshold".into(), Axis::exact(1), Axis::exact(1), Initial::Constant(0.5));
        push_affine(&mut layout, "prompt.projection", shape.dim, width);
        for name in ["prompt.query", "prompt.key"] {
            push_affine(&mut layout, name, width, width);
        }
        Some(layout)
    }

    /// One step an epoch, on all sources.
    fn steps(&self, _shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)> {
        Ok((1, sources.len()))
    }

    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>> {
        let source = &sources[place.part];
        let (view, seed) = (&source.view, shape.options.seed);
        let carried = view.propagation.product(&view.features)?;
        let graph = (&carried, &view.propagation);
        let (mean, log_variance) = expert(shape, weights, place.part, graph, Some(place.key(0, 0)))?;
        let z = (&mean + (noise(&mean, place.key(seed, NOISE))? * (&log_variance * 0.5)?.exp()?)?)?;
        let links = link_contrast(&source.graph, &z, &z, shape.real("temperature")?, place.key(seed, LINKS))?;
        let weight = shape.real("bottleneck")?;
        if weight == 0.0 {
            return Ok(links);
        }
        let divergence = (bottleneck(&mean, &log_variance)? * weight)?;
        links.map(|links| links + divergence).transpose()
    }

    fn prepare(
        &self,
        shape: &Shape<'_>,
        target: &mut Domain,
        reservation: &mut Reservation<'_>,
    ) -> std::result::Result<(), TrainError> {
        let most = shape.options.integer("pairs_within")? as usize;
        let found = Communities::new(&target.graph, most, target.view.features.dtype(), reservation)?;
        target.view.communities = Some(Arc::new(found));
        Ok(())
    }

    /// `certainty` times the entropy of the shares and the mean variance of the pairs of one community.
    fn penalty(&self, shape: &Shape<'_>, weights: &Weights, target: &View, _rows: &Tensor) -> Result<Option<Tensor>> {
        let certainty = shape.real("certainty")?;
        if certainty == 0.0 {
            return Ok(None);
        }
        let shares = shares(weights)?;
        let entropy = (&shares * (&shares + 1e-10)?.log()?)?.sum_all()?.neg()?;
        let pairs = communities(target)?;
        let (_, variance) = similarities(shape, weights, &target.features, pairs)?;
        let variance = ((variance * &pairs.within)?.sum_all()? / pairs.n_within.max(1) as f64)?;
        Ok(Some(((entropy + variance)? * certainty)?))
    }

    fn bytes(&self, shape: &Shape<'_>, sources: &[Domain]) -> usize {
        let heads = shape.options.integer("heads").unwrap_or(1).max(1) as usize;
        let inner = shape.options.integer(INNER).unwrap_or(1).max(1) as usize;
        let of_expert = 4 * (7 * shape.options.layers * inner + 3 * inner + 8 * shape.options.hidden);
        let of = |domain: &Domain| {
            let n = domain.graph.n_nodes();
            let links = link_contrast_bytes(n, shape.options.hidden);
            match &domain.view.communities {
                None => n * (8 * shape.dim + of_expert) + links,
                Some(pairs) => {
                    let of_pairs = pairs.pattern.n_entries() * bytes_of_pair(heads);
                    n * (8 * shape.dim + shape.sources * of_expert + 24 * heads * HEAD) + of_pairs
                }
            }
        };
        sources.iter().map(of).max().unwrap_or(0)
    }

    fn embed(
        &self,
        shape: &Shape<'_>,
        weights: &Weights,
        target: &View,
        prompted: bool,
        pass: Option<u64>,
    ) -> Result<Tensor> {
        let refined = prompted.then(|| refined(shape, weights, target)).transpose()?;
        let propagation = refined.as_ref().unwrap_or(&target.propagation);
        let shares = if prompted { Some(shares(weights)?) } else { None };
        let carried = propagation.product(&target.features)?;
        let mut sum = None::<Tensor>;
        for source in 0..shape.sources {
            let rows = expert(shape, weights, source, (&carried, propagation), pass)?.0;
            let rows = match &shares {
                Some(shares) => rows.broadcast_mul(&shares.narrow(1, source, 1)?)?,
                None => (rows / shape.sources as f64)?,
            };
            sum = Some(match sum {
                None => rows,
                Some(sum) => (sum + rows)?,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => bail!("the model has no expert"),
        }
    }

    /// All nodes where there are prompts, whose graph depends on them; the edges of the layers where there are none.
    fn reach(&self, shape: &Shape<'_>) -> Option<usize> {
        match Adapt::of(&shape.options) {
            Ok(Adapt::Head | Adapt::FineTune) => Some(shape.options.layers),
            _ => None,
        }
    }
}
