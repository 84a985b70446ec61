//! What all parts of the engine speak of: errors with their kinds, SQL's names of types, names of files, and the versions of
//! tables that a statement asks for.
//!
//! # Floors
//!
//! 1. `file_name`, `sql_type`, `time_travel`: names of files and types, versions of tables
//! 2. `table_lookup`: tables that take more than a name
//! 3. `errors`: errors, which name types as SQL does

mod errors;
mod file_name;
mod sql_type;
mod table_lookup;
mod time_travel;

pub use errors::{
    Error, ErrorKind, NullColumn, Raised, Result, nearest, null_column, panic_text, panics, position,
    without_report_request,
};
pub use file_name::{COMPRESSIONS, EXTENSIONS, FILE_OPTIONS, FileExtension, looks_like_a_file};
pub use sql_type::sql_type;
pub use table_lookup::{FileCall, LookupExtension, TableLookup};
pub use time_travel::{TimeTravel, Version, no_history, time_travel_name};

/// The schema of the system's tables: `bonnet.functions`, `bonnet.models` and others.
pub const SYSTEM_SCHEMA: &str = "bonnet";
