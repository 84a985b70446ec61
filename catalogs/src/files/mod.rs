//! Files in FROM and in COPY. Those that cannot be read, or only at great cost, are errors that name the file, say what is wrong
//! with it and what helps.
//!
//! [`format::NamedFormat`] finds the columns of files, and [`source::naming_files`] has their rows read so. Both ask
//! [`reading::Reading`] for the sentence, which [`file_fault::fault`] writes.

mod arrow_by_name;
mod arrow_file;
pub(crate) mod csv;
mod file_fault;
mod file_patterns;
pub(crate) mod file_table;
pub(crate) mod folder_keys;
mod format;
pub(crate) mod json;
mod limits;
mod lines;
mod listing;
pub(crate) mod mantra;
pub(crate) mod named_factory;
mod parquet_intervals;
mod projected;
mod reading;
pub(crate) mod source;
mod special;
mod united;
pub(crate) mod write_only;
