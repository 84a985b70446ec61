//! Tools for trees of sqlparser: makers, readers and walks.

pub mod ast;
pub(crate) mod growth;
pub(crate) mod visit;
pub(crate) mod walk;
