//! The sentence about a file that cannot be read.

use std::fmt;
use std::path::{Path, PathBuf};

use datafusion::common::DataFusionError;

use super::limits::MOST_ROW;
use crate::remote::shown;

/// What a file is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    Arrow,
    Csv,
    Json,
}

impl Kind {
    /// The kind with DataFusion's name for it.
    pub(super) fn of(file_type: &str) -> Option<Self> {
        Some(match file_type {
            "parquet" => Self::Parquet,
            "arrow" | "arrow_stream" => Self::Arrow,
            "csv" => Self::Csv,
            "json" => Self::Json,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
            Self::Csv => "CSV",
            Self::Json => "JSON",
        }
    }
}

/// A file that cannot be read.
#[derive(Debug)]
struct FileFault {
    /// As the user knows it.
    path: PathBuf,
    /// The end of a sentence that begins with its path.
    what: String,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A line or a position stands after a comma.
        let space = if self.what.starts_with(',') { "" } else { " " };
        write!(f, "'{}'{space}{}", self.path.display(), self.what)
    }
}

impl std::error::Error for FileFault {}

/// The error of a file; `what` is the end of a sentence that begins with its path.
pub(crate) fn fault(path: &Path, what: impl Into<String>) -> DataFusionError {
    DataFusionError::External(Box::new(FileFault { path: shown(path), what: what.into() }))
}

/// What is wrong with a file that another copy may have right.
pub(super) fn damage(what: &str) -> String {
    format!("is damaged: {what}; take a whole copy of it, or write it anew")
}

/// Whether an error is that of a file, with its path.
pub(super) fn is_named(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::External(inner) if inner.is::<FileFault>())
}

/// What is wrong with a file with such a row, which begins in a line.
pub(crate) fn too_long(line: usize) -> String {
    format!(
        ", line {line}: a row of more than {} MB; is it of this format, with the quotes and ends of lines it says?",
        MOST_ROW >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_reads_on_behind_the_path() {
        let error = |what| fault(Path::new("/f"), what).strip_backtrace();
        assert!(error(", line 2: x").ends_with("'/f', line 2: x"));
        assert!(error("is damaged").ends_with("'/f' is damaged"));
    }
}
