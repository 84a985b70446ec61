//! Text-free multi-domain graph pre-training (Yu et al. 2024, MDGPT).

use candle_core::{Result, Tensor};

use super::objectives::{link_contrast, link_contrast_bytes};
use super::{
    ADAPT, ALIGNMENT, DIM, Domain, FOUNDATION, Foundation, Place, REDUCED_ON, Shape, View, Weights, build, encoder,
    prompts, temperature,
};
use crate::ground::{Axis, Initial, Layout, OptionError};
use crate::kernels::Activation;
use crate::models::ModelSpec;
use crate::ops::activate;
use crate::options::{Defaults, Task};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mdgpt",
    family: FOUNDATION,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Yu et al. 2024, Text-free multi-domain graph pre-training: toward graph foundation models; settings: \
             arXiv 2606.06397, its program",
    defaults: Defaults { epochs: 400, lr: 3e-3, ..PRETRAINING },
    own: &[DIM, ALIGNMENT, ADAPT, REDUCED_ON, temperature(1.0)],
    reach: None,
    build,
};

/// The setting of CurvBench's program.
const PRETRAINING: Defaults =
    Defaults { epochs: 200, lr: 1e-4, weight_decay: 1e-4, optimizer: "adam", hidden: 256, layers: 3, dropout: 0.0 };

/// Separates the draws of the contrast from other uses of the seed.
const DRAWS: u64 = 41;

/// A domain token `t_i` for each source: the encoder reads `t_i * X_i`, and learns with the tokens by the contrast of links, the sum
/// over the sources. A target has a dual prompt: `elu(a ((sum_i gamma_i t_i) * x) + b (p * x))` with the tokens frozen, and gamma, p, a
/// and b learned. Tokens and prompts are the identity at first: `gamma_i = 1 / sources`, `p = 1`, `a = b = 1/2`.
#[derive(Debug)]
pub(crate) struct Mdgpt;

impl Foundation for Mdgpt {
    fn pretraining(&self) -> Defaults {
        PRETRAINING
    }

    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError> {
        let mut layout = Layout::default();
        encoder::push(&mut layout, shape);
        prompts::push_tokens(&mut layout, "token", shape.sources, shape.dim);
        Ok(layout)
    }

    fn prompt(&self, shape: &Shape<'_>) -> Option<Layout> {
        let mut layout = Layout::default();
        prompts::push_shares(&mut layout, "prompt.gamma", shape.sources);
        prompts::push_token(&mut layout, "prompt.p".into(), shape.dim);
        for name in ["prompt.a", "prompt.b"] {
            layout.push(name.into(), Axis::exact(1), Axis::exact(1), Initial::Constant(0.5));
        }
        Some(layout)
    }

    /// One step an epoch, on all sources.
    fn steps(&self, _shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)> {
        Ok((1, sources.len()))
    }

    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>> {
        let source = &sources[place.part];
        let x = source.view.features.broadcast_mul(weights.numbered("token", place.part)?)?;
        let pass = place.key(0, 0);
        let z = encoder::encode(shape, weights, &x, |h| source.view.propagation.product(h), None, Some(pass))?;
        let draw = place.key(shape.options.seed, DRAWS);
        link_contrast(&source.graph, &z, &z, shape.real("temperature")?, draw)
    }

    fn bytes(&self, shape: &Shape<'_>, sources: &[Domain]) -> usize {
        let n = sources.iter().map(|source| source.graph.n_nodes()).max().unwrap_or(0);
        encoder::bytes(shape, n) + link_contrast_bytes(n, shape.options.hidden)
    }

    fn embed(
        &self,
        shape: &Shape<'_>,
        weights: &Weights,
        target: &View,
        prompted: bool,
        pass: Option<u64>,
    ) -> Result<Tensor> {
        let x = &target.features;
        let x = match prompted {
            false => x.clone(),
            true => {
                let tokens = prompts::mixture(weights, "prompt.gamma", "token", shape.sources)?;
                let of_sources = x.broadcast_mul(&tokens.broadcast_mul(weights.get("prompt.a")?)?)?;
                let own = weights.get("prompt.p")?.broadcast_mul(weights.get("prompt.b")?)?;
                activate(&(of_sources + x.broadcast_mul(&own)?)?, Activation::Elu)?
            }
        };
        encoder::encode(shape, weights, &x, |h| target.propagation.product(h), None, pass)
    }

    fn reach(&self, shape: &Shape<'_>) -> Option<usize> {
        Some(shape.options.layers)
    }
}
