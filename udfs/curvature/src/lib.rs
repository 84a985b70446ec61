//! Discrete curvature of graphs.
//!
//! Kernels only: plain functions over edge lists and [`bonnet_graph::Graph`], free of Arrow and SQL.
//!
//! * Of edges: [`forman_ricci`], [`weighted_forman_ricci`], [`balanced_forman`]; [`ollivier_ricci`], [`lin_lu_yau`], of pairs of
//!   nodes too, over hops or lengths, with measures of their own or given; [`resistance_curvature`], [`effective_resistance`].
//! * Of nodes: [`midpoint_curvature`], exact or from sampled anchors; [`weighted_midpoint_curvature`] over lengths;
//!   [`node_resistance_curvature`].
//! * Over time: [`ricci_flow`], and its [`flow_communities`].
//! * Checks of theorems: [`edge_bounds`], [`edge_change_bounds`].
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
//! 1. `arc_lengths`, `edge_ids`, `search`, `skewness`, `ties`, `triangles`: lengths of edges and shortest paths over them, numbered edges,
//!    triangles, skewness, values equal but for rounding.
//! 2. `balanced_forman`, `forman`, `forman_weighted`, `midpoint`, `ollivier`, `regime`, `resistance`: curvatures.
//! 3. `bounds`, `flow`, `hyperbolicity`: what is made of them.
//! 4. `sql`: their registrations.

mod arc_lengths;
mod balanced_forman;
mod bounds;
mod edge_ids;
mod flow;
mod forman;
mod forman_weighted;
mod hyperbolicity;
pub mod midpoint;
pub mod ollivier;
mod regime;
pub mod resistance;
mod search;
mod skewness;
mod ties;
mod triangles;

pub use balanced_forman::balanced_forman;
pub use bounds::{Bound, BoundsError, Statement, edge_bounds, edge_change_bounds};
pub use edge_ids::EdgeIds;
pub use flow::{FlowCommunities, FlowError, FlowOptions, FlowStep, Surgery, flow_communities, ricci_flow};
pub use forman::{FormanError, forman_ricci};
pub use forman_weighted::{FormanCells, WeightedFormanError, weighted_forman_ricci};
pub use hyperbolicity::{Hyperbolicity, HyperbolicityOptions, hyperbolicity};
pub use midpoint::{
    MidpointCurvature, MidpointError, MidpointOptions, MidpointPlan, midpoint_curvature, midpoint_curvature_of_graph,
    weighted_midpoint_curvature,
};
pub use ollivier::{
    GivenError, Measure, MeasuredGraph, NodeMeasures, OllivierError, OllivierOptions, lin_lu_yau, lin_lu_yau_pairs,
    ollivier_ricci, ollivier_ricci_pairs, ollivier_wasserstein,
};
pub use regime::{MEAN_TOLERANCE, Regime, RegimeError, SKEWNESS_TOLERANCE, regime};
pub use resistance::{ResistanceError, effective_resistance, node_resistance_curvature, resistance_curvature};
pub use skewness::Moments;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
