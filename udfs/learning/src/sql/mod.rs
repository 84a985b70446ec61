//! Training as SQL functions: a relation of jobs in; a row a job out, or its predictions, vectors or epochs. Beside it what
//! prepares graphs for it.

mod align_features;
mod collection;
mod columns;
mod complexes;
mod embed;
mod execution;
mod given;
mod graph;
mod item_table;
mod items;
mod jobs;
mod notices;
mod predict;
mod pretraining;
mod provenance;
mod runs;
mod splits;
mod temporal_neighbors;
mod timed;
mod train;
mod trained;
mod training_curve;
mod training_data;
mod types;

use bonnet_sql::Function;

pub use self::given::protocols::{audit_rows, protocol_rows};
pub use self::notices::{FailedRuns, Notices};

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        align_features::align_features(),
        train::train(),
        pretraining::pretrain(),
        predict::predict(),
        embed::embed(),
        training_curve::training_curve(),
        temporal_neighbors::temporal_neighbors(),
    ]
}
