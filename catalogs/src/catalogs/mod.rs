//! The catalogs of an engine, and how a session sees them.

pub(crate) mod engine_catalogs;
pub(crate) mod frames;
pub(crate) mod lasting_catalog;
mod lasting_schema;
pub(crate) mod memory_catalog;
pub(crate) mod session_catalog;
pub(crate) mod table_lookup;
pub(crate) mod versioned;
