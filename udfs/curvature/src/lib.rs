//! Discrete curvature of graphs.
//!
//! Kernels only: plain functions over edge lists and [`bonnet_graph::Graph`], free of Arrow and SQL.

mod edge_ids;
mod forman;
mod isa;
pub mod midpoint;
pub mod ollivier;
mod regime;
pub mod resistance;
mod skewness;
mod triangles;

pub use edge_ids::EdgeIds;
pub use forman::{FormanError, forman_ricci};
pub use midpoint::{MidpointCurvature, MidpointError, MidpointOptions, midpoint_curvature};
pub use ollivier::{Measure, OllivierError, OllivierOptions, ollivier_ricci, ollivier_ricci_pairs};
pub use regime::{MEAN_TOLERANCE, Regime, RegimeError, SKEWNESS_TOLERANCE, regime};
pub use resistance::{ResistanceError, effective_resistance, node_resistance_curvature, resistance_curvature};
pub use skewness::Moments;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
