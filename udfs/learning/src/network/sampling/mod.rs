//! Samples of a graph: so many neighbours of a node, so many nodes of a type, the rows that an item sees at its time.

mod sample;
mod temporal_sample;
mod type_sample;

pub(super) use sample::expanded;
pub use sample::{ListedEdges, Lists, Sample, Sampler, union};
pub(crate) use temporal_sample::{Neighborhood, expect_rows};
pub use temporal_sample::{TemporalSample, TemporalSampler};
pub use type_sample::TypeSampler;
