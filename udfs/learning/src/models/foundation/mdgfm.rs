//! Multi-domain graph foundation models with topology alignment (Wang et al. 2025, MDGFM).

use candle_core::{Result, Tensor};

use super::neighbors::{bytes as neighbor_bytes, nearest, refined};
use super::objectives::{NEGATIVES, Samples, link_contrast, link_contrast_bytes};
use super::{
    ADAPT, ALIGNMENT, DIM, Domain, FOUNDATION, Foundation, Place, Propagation, REDUCED_ON, Shape, View, Weights, build,
    encoder, prompts, temperature,
};
use crate::ground::random::{Stream, key};
use crate::ground::{Layout, OptionError};
use crate::models::ModelSpec;
use crate::options::{Defaults, OptionSpec, Task};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mdgfm",
    family: FOUNDATION,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Wang et al. 2025, Multi-domain graph foundation models: robust knowledge transfer via topology alignment; \
             settings: arXiv 2606.06397, its program",
    defaults: Defaults { epochs: 400, lr: 3e-3, ..PRETRAINING },
    own: &[
        DIM,
        ALIGNMENT,
        ADAPT,
        REDUCED_ON,
        temperature(0.5),
        OptionSpec::integer(
            "neighbors",
            15,
            [1, 1000],
            "nearest nodes of each in the refined graph (the authors take 15 or 30)",
        ),
        OptionSpec::real(
            "edge_dropout",
            0.2,
            [0.0, 1.0],
            "probability that an edge of the refined graph is left out of a step of pre-training",
        ),
    ],
    reach: None,
    build,
};

/// The setting of CurvBench's program.
const PRETRAINING: Defaults =
    Defaults { epochs: 60, lr: 2e-3, weight_decay: 1e-4, optimizer: "adam", hidden: 256, layers: 3, dropout: 0.0 };

/// Separate the draws from other uses of the seed.
const EDGES: u64 = 46;
const OTHERS: u64 = 47;
const LINKS: u64 = 48;

/// A token `t_i` and a balance token `b_i` for each source, and a token that all share: `x = t_share * relu(t_i * X_i)`, `e = b_i *
/// [x | A x]`, between content and topology. The refined graph A' joins each node to those nearest by the cosine of `e` and weighs
/// them by it, rectified and normalised as A is. The rows of the encoder along A and along A' agree: a node's row along A is nearer to
/// its own along A' than to 50 others, and again to that of a neighbour in A' than to 50 nodes that are none there; the sum of both
/// contrasts and over the sources. (The authors compare all nodes with all, which needs n^2 similarities with their gradients.)
///
/// A target has a meta prompt, the mixture of tokens and balance tokens by learned shares, and a task prompt p: `x = p * t_share *
/// relu((sum_i gamma_i t_i) * X)`, along `A / 2 + A' / 2`. Tokens and prompts are the identity at first. A' depends on all nodes, so
/// that a step of the adaptation is one on the whole graph, O(n^2 dim).
#[derive(Debug)]
pub(crate) struct Mdgfm;

/// `b * [x | A x]`.
fn content_and_topology(x: &Tensor, propagation: &Propagation, balance: &Tensor) -> Result<Tensor> {
    Tensor::cat(&[x, &propagation.product(x)?], 1)?.broadcast_mul(balance)
}

impl Foundation for Mdgfm {
    fn pretraining(&self) -> Defaults {
        PRETRAINING
    }

    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError> {
        let mut layout = Layout::default();
        encoder::push(&mut layout, shape);
        prompts::push_tokens(&mut layout, "token", shape.sources, shape.dim);
        prompts::push_tokens(&mut layout, "balance", shape.sources, 2 * shape.dim);
        prompts::push_token(&mut layout, "shared".into(), shape.dim);
        Ok(layout)
    }

    fn prompt(&self, shape: &Shape<'_>) -> Option<Layout> {
        let mut layout = Layout::default();
        prompts::push_shares(&mut layout, "prompt.gamma", shape.sources);
        prompts::push_token(&mut layout, "prompt.p".into(), shape.dim);
        Some(layout)
    }

    /// One step an epoch, on all sources.
    fn steps(&self, _shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)> {
        Ok((1, sources.len()))
    }

    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>> {
        let source = &sources[place.part];
        let (given, propagation) = (&source.view.features, &source.view.propagation);
        let (n, seed, pass) = (source.graph.n_nodes(), shape.options.seed, Some(place.key(0, 0)));
        if n < 2 {
            return Ok(None);
        }
        let x = given.broadcast_mul(weights.numbered("token", place.part)?)?.relu()?;
        let x = x.broadcast_mul(weights.get("shared")?)?;
        let e = content_and_topology(&x, propagation, weights.numbered("balance", place.part)?)?;
        let graph = nearest(shape, &e, shape.integer("neighbors")?)?;
        let refined = refined(&graph, &e, shape.real("edge_dropout")?, place.key(seed, EDGES))?;
        let z = encoder::encode(shape, weights, &x, |h| propagation.product(h), None, pass)?;
        let other = encoder::encode(shape, weights, &x, |h| refined.product(h), None, pass)?;
        let temperature = shape.real("temperature")?;
        let draw = place.key(seed, OTHERS);
        let Some(own) = Samples::new((0..n as u32).map(|v| Some(others(v, n, draw))), NEGATIVES, n)? else {
            return Ok(None);
        };
        let own = own.loss(&z, &other, temperature)?;
        Ok(Some(match link_contrast(&graph, &z, &other, temperature, place.key(seed, LINKS))? {
            Some(links) => (own + links)?,
            None => own,
        }))
    }

    fn bytes(&self, shape: &Shape<'_>, sources: &[Domain]) -> usize {
        let n = sources.iter().map(|source| source.graph.n_nodes()).max().unwrap_or(0);
        let k = shape.options.integer("neighbors").unwrap_or(1).max(1) as usize;
        2 * encoder::bytes(shape, n)
            + 2 * link_contrast_bytes(n, shape.options.hidden)
            + neighbor_bytes(n, k, 2 * shape.dim)
    }

    fn embed(
        &self,
        shape: &Shape<'_>,
        weights: &Weights,
        target: &View,
        prompted: bool,
        pass: Option<u64>,
    ) -> Result<Tensor> {
        let (x, propagation) = (&target.features, &target.propagation);
        if !prompted {
            return encoder::encode(shape, weights, x, |h| propagation.product(h), None, pass);
        }
        let mixture = |name: &str| prompts::mixture(weights, "prompt.gamma", name, shape.sources);
        let x = x.broadcast_mul(&mixture("token")?)?.relu()?;
        let x = x.broadcast_mul(weights.get("shared")?)?.broadcast_mul(weights.get("prompt.p")?)?;
        let e = content_and_topology(&x, propagation, &mixture("balance")?)?;
        let refined = refined(&nearest(shape, &e, shape.integer("neighbors")?)?, &e, 0.0, 0)?;
        let both = |h: &Tensor| (propagation.product(h)? + refined.product(h)?)? / 2.0;
        encoder::encode(shape, weights, &x, both, None, pass)
    }

    fn reach(&self, _shape: &Shape<'_>) -> Option<usize> {
        None
    }
}

/// A node, then others that are drawn uniformly.
pub(crate) fn others(v: u32, n: usize, draw: u64) -> Vec<u32> {
    let mut stream = Stream::new(key(&[draw, u64::from(v)]));
    let other = |at: u32| if at < v { at } else { at + 1 };
    std::iter::once(v).chain((0..NEGATIVES).map(|_| other(stream.below(n - 1) as u32))).collect()
}
