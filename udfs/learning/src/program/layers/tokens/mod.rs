//! Layers on tokens: a node has as many rows, one after the other.

pub mod order_affine;
pub mod read_out;
