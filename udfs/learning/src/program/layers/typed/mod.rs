//! Layers whose parameters are those of a row's kind: its type, or the relation that it stands for.

pub mod kind_bias;
pub mod kind_linear;
pub mod projected_sum;
pub mod relation_linear;
pub mod relation_sum;
