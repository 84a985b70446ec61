//! Files in FROM and in COPY. Those that cannot be read, or only at great cost, are errors that name the file, say what is wrong
//! with it and what helps.
//!
//! [`format::NamedFormat`] finds the columns of files, and [`source::naming_files`] has their rows read so. Both ask
//! [`reading::Reading`] for the sentence, which [`file_fault::fault`] writes.

mod arrow_file;
pub(crate) mod csv;
mod file_fault;
mod file_patterns;
pub(crate) mod file_table;
mod format;
mod json_array;
mod json_nesting;
mod json_rows;
mod json_schema;
mod json_store;
pub(crate) mod json_texts;
mod limits;
mod lines;
pub(crate) mod mantra;
mod reading;
pub(crate) mod source;
mod special;
pub(crate) mod write_only;
