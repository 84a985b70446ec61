//! Schemas and catalogs as statements see them, with those that need memory alone.

pub(crate) mod create_graph;
pub(crate) mod engine_catalog;
pub(crate) mod engine_schema;
pub(crate) mod faulty_schema;
pub(crate) mod kept_rows;
pub(crate) mod kept_table;
pub(crate) mod memory_schema;
pub(crate) mod stored_view;
