//! Tables in memory.

pub(crate) mod memory_table;
mod row_version;
mod unique_keys;
