//! Files in FROM that cannot be read, or only at great cost: every error names its file, says what is wrong with it and what helps.
//!
//! [`NamedFormat`] finds the columns of files, and [`naming_files`] has their rows read so. Both ask [`fault`] for the sentence.

mod fault;
mod format;
mod json_rows;
mod json_schema;
mod json_store;
mod lines;
mod named;
mod source;
mod special;

pub(crate) use self::fault::{Kind, compression_of, fault, name_error, too_long};
pub(crate) use self::format::{NamedFormat, columns_text};
pub(crate) use self::json_schema::starts_with_array;
pub(crate) use self::lines::{MOST_ROW, TOO_LONG};
pub(crate) use self::named::path_of;
pub use self::source::naming_files;
pub use self::special::check_special;

/// The most columns of a file. DataFusion compares each column with the others when it plans: 30,000 take seconds, in which
/// nothing stops a statement.
pub(crate) const MOST_COLUMNS: usize = 16_384;

/// The values of a batch, where a file has many columns: a batch of 8,192 rows would have gigabytes.
pub(crate) const BATCH_VALUES: usize = 1 << 20;
