//! Parts of prompts that several models have: tokens of sources, and their mixture for a target.

use candle_core::{Result, Tensor};

use super::Weights;
use crate::ground::{Axis, Initial, Layout};

/// Appends a token of `width` for each source, `name.0` and so on, the identity at first.
pub(super) fn push_tokens(layout: &mut Layout, name: &str, sources: usize, width: usize) {
    for source in 0..sources {
        push_token(layout, format!("{name}.{source}"), width);
    }
}

/// Appends a token that is the identity at first.
pub(super) fn push_token(layout: &mut Layout, name: String, width: usize) {
    layout.push(name, Axis::exact(1), Axis::exact(width), Initial::Constant(1.0));
}

/// Appends the shares of a mixture, the same for each at first: a column a source.
pub(super) fn push_shares(layout: &mut Layout, name: &str, sources: usize) {
    let share = Initial::Constant(1.0 / sources.max(1) as f64);
    layout.push(name.to_owned(), Axis::exact(1), Axis::exact(sources), share);
}

/// `sum over i of gamma_i t_i`, a row: the mixture of the tokens `name.i` by the shares `gamma`.
pub(super) fn mixture(weights: &Weights, gamma: &str, name: &str, sources: usize) -> Result<Tensor> {
    let tokens = (0..sources).map(|source| weights.numbered(name, source).cloned()).collect::<Result<Vec<_>>>()?;
    weights.get(gamma)?.matmul(&Tensor::cat(&tokens, 0)?)
}
