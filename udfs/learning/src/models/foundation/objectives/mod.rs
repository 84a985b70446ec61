//! What pre-training makes small: losses that models share, a file each.

mod bottleneck;
mod info_nce;
mod link_contrast;
mod sampled_contrast;
mod tangent_contrast;
mod tangents;
mod volume_smoothness;

pub(super) use bottleneck::bottleneck;
pub(super) use info_nce::info_nce;
#[cfg(test)]
pub(crate) use link_contrast::draws;
pub(super) use link_contrast::{NEGATIVES, link_contrast, link_contrast_bytes};
pub(super) use sampled_contrast::Samples;
pub(super) use tangent_contrast::tangent_contrast;
pub(super) use tangents::tangent_squares;
pub(super) use volume_smoothness::volume_smoothness;

use candle_core::{Result, Tensor};

/// Rows divided by their lengths; those shorter than 1e-8 by that, as PyTorch's cosine_similarity has it.
pub(crate) fn unit_rows(x: &Tensor) -> Result<Tensor> {
    let squares = x.sqr()?.sum_keepdim(1)?;
    // The root of a number above 0 has a gradient.
    x.broadcast_div(&squares.maximum(1e-16)?.sqrt()?)
}
