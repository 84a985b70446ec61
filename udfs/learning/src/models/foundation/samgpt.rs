//! Text-free graph foundation model for multi-domain pre-training and cross-domain adaptation (Yu et al. 2025, SAMGPT).

use candle_core::{Result, Tensor};

use super::objectives::{link_contrast, link_contrast_bytes};
use super::{
    ADAPT, ALIGNMENT, DIM, Domain, FOUNDATION, Foundation, Place, REDUCED_ON, Shape, View, Weights, build, encoder,
    prompts, temperature,
};
use crate::ground::{Layout, OptionError};
use crate::models::ModelSpec;
use crate::options::{Defaults, OptionSpec, Task};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "samgpt",
    family: FOUNDATION,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Yu et al. 2025, SAMGPT: text-free graph foundation model for multi-domain pre-training and cross-domain \
             adaptation; settings: its program and that of arXiv 2606.06397",
    defaults: Defaults { epochs: 400, ..PRETRAINING },
    own: &[
        DIM,
        ALIGNMENT,
        ADAPT,
        REDUCED_ON,
        temperature(1.0),
        OptionSpec::real(
            "structure",
            1.0,
            [0.0, f64::INFINITY],
            "the weight of the rows with structure tokens beside those with feature tokens",
        ),
        OptionSpec::real(
            "specific",
            1.0,
            [0.0, f64::INFINITY],
            "the weight of the target's own prompts beside the mixtures of the sources' tokens",
        ),
    ],
    reach: None,
    build,
};

/// The setting of CurvBench's program.
const PRETRAINING: Defaults =
    Defaults { epochs: 100, lr: 1e-3, weight_decay: 0.0, optimizer: "adam", hidden: 256, layers: 3, dropout: 0.0 };

/// Separates the draws of the contrast from other uses of the seed.
const DRAWS: u64 = 45;

/// A feature token `t_i` and, for each layer, a structure token `s_i^l` for each source. The encoder runs twice: on `t_i * X_i`, and
/// on `X_i` with the input of layer `l` scaled by `s_i^l`, so that a message from `u` is `s_i^l * h_u`; the rows are `H_feature +
/// structure H_structure`, learned by the contrast of links, the sum over the sources.
///
/// A target has a holistic prompt, a mixture of the tokens by learned shares, and a specific one, free vectors, for features and for
/// each layer: `H(sum_i gamma_i t_i * x + specific p * x) + structure (H(x; sum_i gamma_i^l s_i^l) + specific H(x; p^l))`. All are the
/// identity at first.
#[derive(Debug)]
pub(crate) struct Samgpt;

/// The width of the input of a layer.
fn width(shape: &Shape<'_>, layer: usize) -> usize {
    if layer == 0 { shape.dim } else { shape.options.hidden }
}

impl Foundation for Samgpt {
    fn pretraining(&self) -> Defaults {
        PRETRAINING
    }

    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError> {
        let mut layout = Layout::default();
        encoder::push(&mut layout, shape);
        prompts::push_tokens(&mut layout, "token", shape.sources, shape.dim);
        for l in 0..shape.options.layers {
            prompts::push_tokens(&mut layout, &format!("structure.{l}"), shape.sources, width(shape, l));
        }
        Ok(layout)
    }

    fn prompt(&self, shape: &Shape<'_>) -> Option<Layout> {
        let mut layout = Layout::default();
        prompts::push_shares(&mut layout, "prompt.gamma", shape.sources);
        prompts::push_token(&mut layout, "prompt.p".into(), shape.dim);
        for l in 0..shape.options.layers {
            prompts::push_shares(&mut layout, &format!("prompt.structure.gamma.{l}"), shape.sources);
            prompts::push_token(&mut layout, format!("prompt.structure.p.{l}"), width(shape, l));
        }
        Some(layout)
    }

    /// One step an epoch, on all sources.
    fn steps(&self, _shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)> {
        Ok((1, sources.len()))
    }

    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>> {
        let source = &sources[place.part];
        let (x, pass) = (&source.view.features, Some(place.key(0, 0)));
        let carry = |h: &Tensor| source.view.propagation.product(h);
        let tokens = (0..shape.options.layers)
            .map(|l| weights.numbered(&format!("structure.{l}"), place.part).cloned())
            .collect::<Result<Vec<_>>>()?;
        let of_features = x.broadcast_mul(weights.numbered("token", place.part)?)?;
        let of_features = encoder::encode(shape, weights, &of_features, carry, None, pass)?;
        let of_structure = encoder::encode(shape, weights, x, carry, Some(&tokens), pass)?;
        let z = (of_features + (of_structure * shape.real("structure")?)?)?;
        let draw = place.key(shape.options.seed, DRAWS);
        link_contrast(&source.graph, &z, &z, shape.real("temperature")?, draw)
    }

    fn bytes(&self, shape: &Shape<'_>, sources: &[Domain]) -> usize {
        let n = sources.iter().map(|source| source.graph.n_nodes()).max().unwrap_or(0);
        3 * encoder::bytes(shape, n) + link_contrast_bytes(n, shape.options.hidden)
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
        let carry = |h: &Tensor| target.propagation.product(h);
        if !prompted {
            return encoder::encode(shape, weights, x, carry, None, pass);
        }
        let specific = shape.real("specific")?;
        let holistic = prompts::mixture(weights, "prompt.gamma", "token", shape.sources)?;
        let prompt = (holistic + (weights.get("prompt.p")? * specific)?)?;
        let of_features = encoder::encode(shape, weights, &x.broadcast_mul(&prompt)?, carry, None, pass)?;
        let (mut mixtures, mut own) = (Vec::new(), Vec::new());
        for l in 0..shape.options.layers {
            let gamma = format!("prompt.structure.gamma.{l}");
            mixtures.push(prompts::mixture(weights, &gamma, &format!("structure.{l}"), shape.sources)?);
            own.push(weights.numbered("prompt.structure.p", l)?.clone());
        }
        let mut of_structure = encoder::encode(shape, weights, x, carry, Some(&mixtures), pass)?;
        if specific > 0.0 {
            let of_own = encoder::encode(shape, weights, x, carry, Some(&own), pass)?;
            of_structure = (of_structure + (of_own * specific)?)?;
        }
        of_features + (of_structure * shape.real("structure")?)?
    }

    fn reach(&self, shape: &Shape<'_>) -> Option<usize> {
        Some(shape.options.layers)
    }
}
