//! Columns of relations: keys of nodes, rows of groups.

pub(crate) mod columns;
pub(crate) mod grouped_rows;
pub(crate) mod keys;
