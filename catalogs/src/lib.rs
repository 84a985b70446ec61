//! Catalogs and their tables: memory, lasting databases, attached data, and the system schema.
//!
//! * [`EngineCatalog`] and [`EngineSchema`]: catalogs and schemas as statements see them. They are implemented by memory
//!   ([`MemoryCatalog`], [`MemorySchema`]), attached graphs ([`GraphSchema`]) and tables of other programs
//!   ([`ExternalCatalog`]), lasting databases ([`delta::LastingCatalog`]) and the system ([`SystemSchema`]).
//! * [`EngineCatalogs`]: the list that the sessions of an engine share; [`SessionCatalogs`]: how a session sees it, with
//!   `FROM 'file.parquet'`, views and tables of another time.
//! * [`MemoryTable`]: rows in memory that count against the engine's limit.
//! * [`SystemSchema`]: the schema `bonnet` with its tables `functions`, `models`, `graphs`,
//!   `graph_cache`, `runs`, `settings`.
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

mod arrow_file;
mod change_exec;
mod column_change;
mod committed_rows;
mod csv;
mod databases;
mod dataset_table;
pub mod delta;
mod engine_catalog;
mod error;
mod external_catalog;
mod faulty_schema;
mod file_patterns;
mod file_table;
mod files;
mod frames;
mod graph_schema;
mod graphs;
mod json_array;
mod json_texts;
mod lazy;
mod leaf_plan;
mod look;
mod mantra;
mod memory_catalog;
mod memory_schema;
mod memory_table;
mod new_table;
mod provider_catalog;
mod row_cache;
mod runs;
mod session_catalog;
mod stored_view;
mod system;
mod table_methods;
mod table_version;
mod time_travel;
mod unique_keys;
mod versioned_tables;
mod write_only;

pub use column_change::ColumnChange;
pub use committed_rows::CommittedRows;
pub use csv::{CsvTextFactory, write_csv};
pub use dataset_table::DatasetTable;
pub use engine_catalog::{EngineCatalog, EngineCatalogs, EngineSchema};
pub use external_catalog::{ExternalCatalog, ExternalFormat};
pub use faulty_schema::FaultySchema;
pub use file_table::{FILE_OPTION, FILE_OPTIONS, file_table, looks_like_a_file};
pub use files::naming_files;
pub use frames::{Frames, with_frames};
pub use graph_schema::GraphSchema;
pub use graphs::{GraphEntry, Measured, Measures, list_graphs, measure_graph};
pub use json_texts::{JsonFloats, json_texts, with_text_keys};
pub use lazy::{BlockingRead, LazyExec, LazyRows, TableRows};
pub use mantra::MantraFormatFactory;
pub use memory_catalog::MemoryCatalog;
pub use memory_schema::MemorySchema;
pub use memory_table::{MemoryTable, counted};
pub use new_table::{MAIN_SCHEMA, MEMORY_CATALOG, NewGraph, NewTable, SYSTEM_SCHEMA};
pub use session_catalog::{SessionCatalogs, SessionSchema, planned_in};
pub use stored_view::{PlanQuery, StoredView};
pub use system::{CachedGraph, Function, Hyperparameter, Model, Setting, SystemRows, SystemSchema};
pub use table_version::{TableVersion, VersionedTable};
pub use time_travel::{TimeTravel, Version, parse_time_travel_name, time_travel_name};
pub use versioned_tables::versioned;
pub use write_only::{WriteOnly, WriteOnlyFormat};
