//! Calls in physical plans, and the start of their runs.

pub(crate) mod graph_partitions;
pub(crate) mod launch;
pub(crate) mod relation_exec;
pub(crate) mod shared_run;
