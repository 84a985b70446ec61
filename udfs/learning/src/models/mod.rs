//! The models: one file each, with its registration `SPEC` and its equations as a [`crate::program`].
//!
//! To add a model: such a file, and its line in [`crate::models()`].

pub mod acm_gcn;
pub mod appnp;
pub mod bernnet;
pub mod cellmp;
pub(crate) mod complexes;
pub mod ct;
pub(crate) mod curved;
pub mod cusp;
pub mod dect;
pub mod fagcn;
pub mod fsgnn;
pub mod gat;
pub mod gbk_gnn;
pub mod gcn;
pub mod gin;
pub mod glognn;
pub mod gprgnn;
pub mod graphmore;
pub mod graphsage;
pub mod h2gcn;
pub mod hat;
pub mod hgcn;
pub mod hgnn;
pub mod hybonet;
pub mod label_propagation;
pub mod linkx;
pub mod lsgnn;
pub mod mixhop;
pub mod mlp;
pub mod mlp1;
pub mod pcnet;
mod problem;
pub mod qgcn;
pub(crate) mod registry;
mod resolve;
pub mod san;
pub mod sccn;
pub mod sccnn;
pub mod scn;
pub mod sgc;
pub(crate) mod spec;
pub mod tag;
pub mod unimp;

pub use problem::Problem;
pub use registry::{model, models};
pub use spec::ModelSpec;
