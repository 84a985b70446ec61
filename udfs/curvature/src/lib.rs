//! Discrete curvature of graphs.
//!
//! Kernels only: plain functions over edge lists and [`bonnet_graph::Graph`], free of Arrow and SQL.

mod forman;
pub mod midpoint;
mod regime;
mod skewness;
mod triangles;

pub use forman::{FormanError, forman_ricci};
pub use midpoint::{MidpointCurvature, MidpointError, MidpointOptions, midpoint_curvature};
pub use regime::{MEAN_TOLERANCE, Regime, RegimeError, SKEWNESS_TOLERANCE, regime};
pub use skewness::Moments;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
