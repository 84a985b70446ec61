//! Readers of published graph formats, and the small data that the project ships.
//!
//! [`open`] recognises a file or folder (or takes the format's name) and gives a [`Dataset`]: the tables `nodes`,
//! `edges` and, where the publisher gives them, `splits` and `graphs`, as Arrow batches. Opening looks at names and headers only;
//! each read takes just the columns that are wanted. To add a format is to add a file under `formats/` and a line
//! in [`formats`].
//!
//! ```
//! use bonnet_datasets::{Opened, Options, open};
//!
//! let Opened::Graph(karate) = open("builtin:karate", None, &Options::new())? else { unreachable!() };
//! assert_eq!(karate.tables(), ["nodes", "edges"]);
//! let edges = karate.read("edges", &[0, 1], &|| true)?;
//! assert_eq!(edges.iter().map(|batch| batch.num_rows()).sum::<usize>(), 78);
//! # Ok::<(), bonnet_datasets::Error>(())
//! ```
//!
//! # Floors
//!
//! 1. `error`, `types`: errors, and the types of columns.
//! 2. `dataset`, `format`: what a data set and a format are.
//! 3. `files`, `guard`, `matrix`: files within their limits, sparse matrices.
//! 4. `array`, `columns`, `mantra_writer`, `matlab`, `parquet_file`: containers of numbers, and columns.
//! 5. `graph_set`, `pickle`, `scan`, `sparse_npz`: pickled objects, sets of graphs, what a read wants, scipy's sparse matrices.
//! 6. `complexes`, `csv`, `linkx_splits`, `reader`: tables of one file.
//! 7. `formats`: the published formats, one a file.
//! 8. `open`, `registry`: which format a path is of; published data sets by their names.

mod array;
mod columns;
mod complexes;
mod csv;
mod dataset;
mod error;
mod files;
mod format;
mod formats;
mod graph_set;
mod guard;
mod linkx_splits;
mod mantra_writer;
mod matlab;
mod matrix;
mod open;
mod parquet_file;
mod pickle;
mod reader;
mod registry;
mod scan;
mod sparse_npz;
mod types;

pub use dataset::{Dataset, Options, Stamp};
pub use error::{Error, Result};
pub use format::Format;
pub use formats::formats;
pub use mantra_writer::MantraWriter;
pub use open::{Collection, Opened, missing, open, valid_name};
pub use registry::{Fault, REGISTRY, RegisteredFile, RegisteredSet, registered, registry, sha256};
pub use types::{WIDTH_KEY, dense_features_type, features_width, sparse_features_type};
