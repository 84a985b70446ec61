//! Layers along the edges of an operator: attention, gates, similarities, distortion.

mod attention;
pub mod distortion;
pub mod dot_attention;
pub mod gated_sum;
pub mod local_similarity;
pub mod pair_attention;
pub mod scored_sum;
pub mod tanh_attention;
pub mod terms;
