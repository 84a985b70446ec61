//! Models, and kernels of layers, beside literal implementations of their equations and other witnesses.

pub(crate) mod cell_models;
pub(crate) mod complex_operators;
pub(crate) mod complexes;
pub(crate) mod curved;
pub(crate) mod definition;
mod global_attention;
pub(crate) mod heterophily;
pub(crate) mod literal;
pub(crate) mod programs;
pub(crate) mod published;
pub(crate) mod reference;
pub(crate) mod row_kernels;
pub(crate) mod tokens;
pub(crate) mod torch;
pub(crate) mod typed;
pub(crate) mod typed_pyg;
mod typed_transformers;
