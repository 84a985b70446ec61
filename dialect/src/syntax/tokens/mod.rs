//! What the parser of DataFusion does not read, mended token by token.

pub(crate) mod copy_from;
pub(crate) mod depth;
pub(crate) mod duckdb_tokens;
pub(crate) mod from_first;
pub(crate) mod numbers;
pub(crate) mod pivot_statement;
pub mod split;
pub(crate) mod token;

pub use copy_from::COPIED_FILE;
