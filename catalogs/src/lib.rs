//! Where tables come from and go to: attached datasets and the system schema.
//!
//! * [`GraphSchema`]: an attached data set as a schema; [`GraphCatalog`]: a folder of them as a catalog.
//! * [`MadeGraph`]: a graph that a statement made, with what its tables do not say themselves.
//! * [`FileAwareCatalogList`]: `FROM 'file.parquet'`, on top of any other catalogs.
//! * `delta`: lasting databases, whose tables are Delta tables (feature `delta`).
//! * [`MemoryTable`]: rows in memory that count against the engine's limit.
//! * [`SystemSchema`]: the schema `bonnet` with its tables `functions`, `models`, `graphs`, `runs`,
//!   `settings`.
//!
//! Planning reads headers only; rows are read on a blocking thread when the first batch is asked for, with memory
//! reserved from the query's pool. Small answers are kept, 32 MiB in all, for as long as the files stay as they are.
//!
//! ```
//! use bonnet_catalogs::GraphSchema;
//! use bonnet_datasets::{Opened, Options, open};
//! use datafusion::catalog::SchemaProvider;
//!
//! let Opened::Graph(karate) = open("builtin:karate", None, &Options::new())? else { unreachable!() };
//! assert!(GraphSchema::new(karate).table_exist("edges"));
//! # Ok::<(), bonnet_datasets::Error>(())
//! ```

mod arrow_file;
mod attached;
mod boxed;
mod change;
mod databases;
#[cfg(feature = "delta")]
pub mod delta;
mod file_aware;
mod files;
mod finished;
mod graphs;
mod kept;
mod lazy;
mod made;
mod mantra;
mod memory;
mod runs;
mod stored_view;
mod system;
mod tables;
mod versions;

pub use attached::{DatasetTable, GraphCatalog, GraphSchema, attached_graph, made_directed, why_not_drop};
pub use file_aware::{FileAwareCatalog, FileAwareCatalogList, FileAwareSchema};
pub use files::{file_table, looks_like_a_file};
pub use finished::Finished;
pub use graphs::{GraphEntry, Measured, Wanted, list_graphs, measure_graph};
pub use lazy::{BlockingRead, LazyExec, LazyRows, Rows};
pub use made::MadeGraph;
pub use mantra::MantraFormatFactory;
pub use memory::{Kept, MemoryTable, joined};
pub use stored_view::{PlanQuery, ViewPlanner};
pub use system::{Function, Hyperparameter, Model, SYSTEM_SCHEMA, Setting, SystemRows, SystemSchema};
pub use tables::{TablesCatalog, TablesType};
pub use versions::{Asked, Version, name_asked};
