//! Lasting databases: Delta tables in a folder, and the catalog that names them.

mod catalog;
mod change;
mod checkpoint;
mod database;
mod datafile;
mod entry;
mod log;
mod names;
mod plain;
mod store;
mod table;
mod types;
mod upkeep;
mod versions;

pub use catalog::{LastingCatalog, LastingSchema, NewTable};
pub use database::Database;
pub use entry::{Attachment, GraphFacts};
pub use table::LastingTable;
pub use upkeep::{Optimized, Vacuumed};
pub use versions::History;
