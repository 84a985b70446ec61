//! What is attached: data sets as schemas of tables, and tables of other programs as catalogs. Also a path in FROM, which stands
//! for a table of its own.

mod databases;
pub(crate) mod dataset_table;
pub(crate) mod external_catalog;
pub(crate) mod graph_schema;
pub(crate) mod path_table;
pub(crate) mod provider_catalog;
mod row_cache;
