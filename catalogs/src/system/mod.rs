//! The schema `bonnet`: what the engine knows of itself, and finds in its catalogs, as tables.

mod datasets;
pub(crate) mod graphs;
mod runs;
pub(crate) mod system_schema;
