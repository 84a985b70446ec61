//! Models for graphs whose neighbours differ.

pub mod acm_gcn;
pub mod fagcn;
pub mod fsgnn;
pub mod gbk_gnn;
pub mod glognn;
pub mod h2gcn;
pub mod linkx;
pub mod lsgnn;
