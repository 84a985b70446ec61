//! Models that read the features alone, or the edges alone.

pub mod label_propagation;
pub mod mlp;
pub mod mlp1;
pub mod ridge;
