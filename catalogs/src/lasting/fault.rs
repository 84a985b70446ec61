//! A file that is not as it was written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) path: PathBuf,
    /// What is wrong with it, as the end of a sentence that begins with its path.
    pub(super) what: String,
    /// What helps beside a copy of the file.
    pub(super) remedy: Option<String>,
}

impl Fault {
    pub(super) fn new(path: &Path, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), what: what.into(), remedy: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' {}; restore it from a copy", self.path.display(), self.what)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, ", or {remedy}"))
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_helps_is_part_of_the_sentence() {
        let mut fault = Fault::new(Path::new("/t/a.json"), "is empty");
        assert_eq!(fault.to_string(), "'/t/a.json' is empty; restore it from a copy");
        fault.remedy = Some("remove it".to_owned());
        assert_eq!(fault.to_string(), "'/t/a.json' is empty; restore it from a copy, or remove it");
    }
}
