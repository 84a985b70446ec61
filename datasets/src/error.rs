//! The readers' error: what happened, in which file, where in it, and what to do.

use std::path::{Path, PathBuf};

/// What a reader answers, or its error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a reader. Its message is for the person who wrote `ATTACH`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing at the path; `hint` says what its folder holds.
    #[error("there is no file or folder '{}'{hint}", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// The contents of the parent folder, or the missing parent.
        hint: String,
    },
    /// The format's name is not known.
    #[error("unknown TYPE '{name}'; the types are: {known}")]
    UnknownFormat {
        /// The unknown name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// No format recognises the files.
    #[error("'{}' is not recognised{found}; the formats are: {known}", path.display())]
    NotRecognised {
        /// The path.
        path: PathBuf,
        /// The kind that was found.
        found: String,
        /// The formats with their descriptions.
        known: String,
    },
    /// An option or its value is not known.
    #[error("{0}")]
    Option(String),
    /// There is no such table.
    #[error("'{location}' has no table '{table}'; it has: {known}")]
    UnknownTable {
        /// Where the data set is.
        location: String,
        /// The unknown table.
        table: String,
        /// The tables that exist.
        known: String,
    },
    /// A file's content is not what its format says.
    #[error("'{}'{place}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in it: `, line 3` or `, byte 17` or `, member x.npy`; may be empty.
        place: String,
        /// The defect, and what was expected.
        what: String,
    },
    /// A file cannot be read.
    #[error("cannot read '{}': {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The columns that a reader made do not fit the table: a defect of the reader.
    #[error("the columns do not fit their table: {0}")]
    Columns(#[from] arrow::error::ArrowError),
    /// The query was cancelled.
    #[error("the query was cancelled")]
    Cancelled,
}

impl Error {
    /// A fault of a whole file.
    pub(crate) fn file(path: &Path, what: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), place: String::new(), what: what.to_string() }
    }

    /// A fault at a line, counted from 1.
    pub(crate) fn line(path: &Path, line: usize, what: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), place: format!(", line {line}"), what: what.to_string() }
    }

    /// A fault at a byte, counted from 0.
    pub(crate) fn byte(path: &Path, byte: usize, what: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), place: format!(", byte {byte}"), what: what.to_string() }
    }

    /// A fault of one member of an archive, or of one column of a table.
    pub(crate) fn member(path: &Path, member: &str, what: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), place: format!(", {member}"), what: what.to_string() }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}
