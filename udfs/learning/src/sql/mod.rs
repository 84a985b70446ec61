//! `train` as a SQL function: a relation of jobs in, a row a job out.

mod graph;
mod jobs;
mod train;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![train::train()]
}
