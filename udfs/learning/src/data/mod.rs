//! The data of a run as plain values, checked: features and weights of edges, graphs, sets of graphs and of complexes with
//! their targets, pairs of nodes, and the splits of all of them.

pub(crate) mod alignment;
mod complex_set;
mod edge_weights;
mod encodings;
pub(crate) mod features;
mod graph_data;
mod graph_set;
mod graph_types;
mod item_features;
mod item_rows;
mod links;
mod split;
mod standardization;
mod typed_features;

pub use alignment::{Alignment, AlignmentError, Reduction, align, structural_features, structural_features_bytes};
pub use complex_set::{ComplexSet, Complexes};
pub use edge_weights::{EdgeWeights, WeightError};
pub(crate) use encodings::with_encodings;
pub use features::{Features, SparseRows};
pub use graph_data::GraphData;
pub use graph_set::{GraphSet, Targets};
pub use graph_types::{GraphRelation, GraphTypes};
pub(crate) use item_features::ItemInput;
pub use item_rows::{ALWAYS, ItemRows, NEVER, TimedGraph, TimedItem};
pub use links::{GivenPair, LinkError, LinkSplit, NonEdges, Pair};
pub use split::{Part, Split};
pub(crate) use standardization::{NAMES as STANDARDIZATION, Standardization};
pub use typed_features::{joined_features, joined_features_bytes, with_neighbor_means};
