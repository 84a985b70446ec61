//! Discrete curvature of graphs.
//!
//! Kernels only: plain functions over edge lists and [`bonnet_graph::Graph`], free of Arrow and SQL.
//!
//! * Of edges: [`forman_ricci`], [`ollivier_ricci`], [`resistance_curvature`], [`effective_resistance`].
//! * Of nodes: [`midpoint_curvature`], exact or from sampled anchors; [`node_resistance_curvature`].
//! * Of a graph: [`Moments`] of its curvatures, and the [`regime`] that they put it in; [`hyperbolicity`].
//!
//! ```
//! use bonnet_curvature::{OllivierOptions, forman_ricci, ollivier_ricci};
//! use bonnet_graph::{Graph, Unmonitored};
//!
//! // A triangle with a tail: 4 - degrees + 3 triangles.
//! let edges = [(0, 1), (0, 2), (1, 2), (2, 3)];
//! let graph = Graph::from_edges(4, &edges);
//! assert_eq!(forman_ricci(&graph, &edges, &Unmonitored).unwrap(), [Some(3), Some(2), Some(2), Some(0)]);
//!
//! // One value an edge, in the order of `Graph::edges`.
//! let ollivier = ollivier_ricci(&graph, &OllivierOptions::default(), &Unmonitored).unwrap();
//! assert_eq!(ollivier.len(), graph.n_edges());
//! ```
//!
//! # Floors
//!
//! 1. `edge_ids`, `skewness`, `triangles`: numbered edges, triangles, skewness.
//! 2. `forman`, `midpoint`, `ollivier`, `regime`, `resistance`: curvatures.
//! 3. `hyperbolicity`: what summarises them.
//! 4. `sql`: their registrations.

mod edge_ids;
mod forman;
mod hyperbolicity;
pub mod midpoint;
pub mod ollivier;
mod regime;
pub mod resistance;
mod skewness;
mod triangles;

pub use edge_ids::EdgeIds;
pub use forman::{FormanError, forman_ricci};
pub use hyperbolicity::{Hyperbolicity, HyperbolicityOptions, hyperbolicity};
pub use midpoint::{
    MidpointCurvature, MidpointError, MidpointOptions, MidpointPlan, midpoint_curvature, midpoint_curvature_of_graph,
};
pub use ollivier::{Measure, OllivierError, OllivierOptions, ollivier_ricci, ollivier_ricci_pairs};
pub use regime::{MEAN_TOLERANCE, Regime, RegimeError, SKEWNESS_TOLERANCE, regime};
pub use resistance::{ResistanceError, effective_resistance, node_resistance_curvature, resistance_curvature};
pub use skewness::Moments;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
