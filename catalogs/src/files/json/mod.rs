//! JSON files: their rows and columns, and what Arrow's reader and writer of JSON lack.

pub(super) mod array;
mod nesting;
mod rows;
pub(super) mod schema;
pub(super) mod store;
pub(crate) mod texts;
mod unique_keys;
