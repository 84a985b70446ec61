//! Lasting databases: Delta tables in a folder, and the catalog that names them.

mod catalog;
mod copy_on_write;
mod damage;
mod database;
mod entry;
mod fast;
mod flushed_store;
mod history;
mod names;
mod new_columns;
mod store;
mod table;
mod types;
mod upkeep;

pub use catalog::LastingCatalog;
pub use damage::DamagedFiles;
pub use database::Database;
pub use entry::{Attachment, GraphFacts};
pub use history::History;
pub use table::LastingTable;
pub use upkeep::{Optimized, Vacuumed};
