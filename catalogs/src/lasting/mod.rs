//! Lasting databases: Delta tables in a folder, and the files of the catalog that name them.

mod building;
mod copy_on_write;
mod damage;
mod database;
mod dropped;
mod entry;
mod fast;
mod fault;
mod flushed_store;
mod history;
mod layout;
mod names;
mod new_columns;
mod schema_folder;
mod schemas;
mod store;
mod table;
mod types;
mod upkeep;

pub use damage::DamagedFiles;
pub use database::Database;
pub use entry::Attachment;
pub use history::History;
pub(crate) use schema_folder::{Found, SchemaFolder};
pub use table::LastingTable;
pub use upkeep::{Optimized, Vacuumed};
