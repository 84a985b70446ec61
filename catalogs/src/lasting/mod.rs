//! Lasting databases: Delta tables in a folder, and the files of the catalog that name them.
//!
//! From below: the files of the catalog (`names`, `layout`, `entry`), the log and the data files of a table (`fault`, `fast`,
//! `flushed_store`), what is wrong with them (`damage`), a table as a folder (`store`), a database (`database`, `building`), its
//! tables and their changes (`table`, `history`, `removal_lock`, `copy_on_write`, `new_columns`, `upkeep`,
//! `restore`), its schemas (`schema_folder`, `schemas`, `dropped`).

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
mod removal_lock;
mod restore;
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
pub(crate) use restore::overtaken;
pub(crate) use schema_folder::{Found, KeptEntry, SchemaFolder};
pub use table::LastingTable;
pub use upkeep::{Optimized, Vacuumed};
