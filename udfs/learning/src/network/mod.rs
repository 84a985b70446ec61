//! The parts of every model: the edges that carry messages, sparse operators, the scope of a pass, and the
//! trait that the training loop runs.

mod adjacency;
mod curvature;
mod ego;
mod input;
mod listed;
mod messages;
mod model;
mod moments;
mod neighborhoods;
mod operator;
mod pass;
pub(crate) mod pieces;
mod relations;
pub(crate) mod sampling;
mod scope;
mod second_ring;
mod stacked_sources;
mod tokens;

pub use curvature::NodeCurvature;
pub use ego::{EgoMeans, ego_means};
pub use input::{Input, sparse_gradient};
pub use listed::{ListedEntries, ListedOperator};
pub use messages::{Messages, WeightedEdges};
pub use model::Model;
pub use moments::{BatchMoments, Moments, Statistics};
pub use neighborhoods::{Entries, Hop, Neighborhoods};
pub use operator::Operator;
pub use pass::Pass;
pub use relations::{KindColumns, Kinds, Relation, Relations};
pub use sampling::{ListedEdges, TemporalSample, TemporalSampler};
pub use scope::{Hops, Prepared, RelationRows, Scope};
pub use second_ring::second_ring;
pub use stacked_sources::StackedSources;
pub use tokens::{Basis, tokens};

pub(crate) use adjacency::{adjacency, adjacency_bytes};
pub(crate) use model::zeros;
pub(crate) use pass::{Site, dropout};
pub(crate) use sampling::{Neighborhood, expect_rows};
