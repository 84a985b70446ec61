//! What stands beside the Delta library because it is faster.

pub(super) mod checkpoint;
pub(super) mod data_file;
pub(super) mod log;
#[cfg(test)]
mod measure;
pub(super) mod plain;
