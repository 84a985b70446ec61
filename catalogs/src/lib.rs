//! Catalogs and their tables: memory, lasting databases, attached data, and the system schema.
//!
//! * [`EngineCatalog`] and [`EngineSchema`]: catalogs and schemas as statements see them. They are implemented by memory
//!   ([`MemoryCatalog`], [`MemorySchema`]), attached graphs ([`GraphSchema`]) and tables of other programs
//!   ([`ExternalCatalog`]), lasting databases ([`LastingCatalog`]) and the system ([`SystemSchema`]).
//! * [`EngineCatalogs`]: the list that the sessions of an engine share; [`SessionCatalogs`]: how a session sees it, with
//!   `FROM 'file.parquet'`, views and tables of another time.
//! * [`MemoryTable`]: rows in memory that count against the engine's limit.
//! * [`SystemSchema`]: the schema `bonnet` with its tables `functions`, `models`, `graphs`,
//!   `graph_cache`, `runs`, `settings`, `protocols`, `audit`.
//!
//! Planning reads headers only; rows are read on a blocking thread when the first batch is polled, with memory
//! reserved from the query's pool. Small answers are cached, 32 MiB in all, for as long as the files stay as they are.
//!
//! ```
//! use bonnet_catalogs::GraphSchema;
//! use bonnet_datasets::{Opened, Options, open};
//! use datafusion::catalog::SchemaProvider;
//!
//! let Opened::Graph(karate) = open("builtin:karate", None, &Options::new())? else { unreachable!() };
//! assert!(GraphSchema::new(karate, false).table_exist("edges"));
//! # Ok::<(), bonnet_datasets::Error>(())
//! ```
//!
//! # Floors
//!
//! A module imports from lower floors alone.
//!
//! 1. `ground`: errors, plans and methods of tables, what a new table or graph is, versions of rows, lazy scans
//! 2. `remote`: files of other machines, as files or parts of files of this one
//! 3. `files`, `lasting`, `memory`: tables of files, of databases on disk and of batches in memory; none knows another
//! 4. `schemas`: schemas and catalogs as statements see them, views, and what needs memory alone
//! 5. `attached`: data sets and tables of other programs as schemas and catalogs
//! 6. `catalogs`: the catalogs of an engine, lasting ones too, and how a session sees them
//! 7. `system`: the schema `bonnet`

mod attached;
mod catalogs;
mod files;
mod ground;
mod lasting;
mod memory;
#[cfg(feature = "remote")]
mod remote;
#[cfg(not(feature = "remote"))]
#[path = "remote/absent.rs"]
mod remote;
mod schemas;
mod system;

pub use attached::dataset_table::DatasetTable;
pub use attached::external_catalog::{ExternalCatalog, ExternalFormat};
pub use attached::graph_schema::GraphSchema;
pub use attached::path_table::path_table as file_table;
pub use bonnet_common::{SYSTEM_SCHEMA, TimeTravel, Version};
pub use catalogs::engine_catalogs::EngineCatalogs;
pub use catalogs::frames::{Frames, with_frames};
pub use catalogs::lasting_catalog::LastingCatalog;
pub use catalogs::memory_catalog::MemoryCatalog;
pub use catalogs::session_catalog::{SessionCatalogs, SessionSchema, planned_in};
pub use catalogs::table_lookup::CatalogLookup;
pub use catalogs::versioned::versioned;
pub use files::csv::{CsvTextFactory, write_csv};
pub use files::folder_keys::NULL_KEY;
pub use files::json::texts::{JsonFloats, json_texts, with_text_keys};
pub use files::mantra::MantraFormatFactory;
pub use files::named_factory::NamedFormatFactory;
pub use files::source::naming_files;
pub use files::write_only::{WriteOnly, WriteOnlyFormat};
pub use ground::column_change::ColumnChange;
pub use ground::committed_rows::CommittedRows;
pub use ground::file_path::is_address;
pub use ground::graph_facts::GraphFacts;
pub use ground::lazy::{BlockingRead, LazyExec, LazyRows, TableRows};
pub use ground::new_table::{MAIN_SCHEMA, MEMORY_CATALOG, NewGraph, NewTable};
pub use ground::table_version::{TableVersion, VersionedTable};
pub use lasting::{Attachment, DamagedFiles, Database, History, LastingTable, Optimized, Vacuumed};
pub use memory::memory_table::{MemoryTable, counted};
pub use remote::Upload;
#[cfg(feature = "remote")]
pub use remote::download;
pub use schemas::engine_catalog::EngineCatalog;
pub use schemas::engine_schema::EngineSchema;
pub use schemas::faulty_schema::FaultySchema;
pub use schemas::kept_rows::KeptRows;
pub use schemas::kept_table::KeptTable;
pub use schemas::memory_schema::MemorySchema;
pub use schemas::stored_view::{PlanQuery, StoredView};
pub use system::graphs::{GraphEntry, Measured, Measures, list_graphs, measure_graph};
pub use system::system_schema::{CachedGraph, Function, Hyperparameter, Model, Setting, SystemRows, SystemSchema};
