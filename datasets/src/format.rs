//! A published format.

use std::path::Path;
use std::sync::Arc;

use crate::dataset::{Dataset, Options};
use crate::error::Result;

/// A published format: its name, and how its files are recognised and opened.
#[derive(Debug)]
pub struct Format {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) options: &'static [(&'static str, &'static str)],
    pub(crate) recognises: fn(&Path) -> bool,
    pub(crate) open: fn(&Path, &Options) -> Result<Arc<dyn Dataset>>,
}

impl Format {
    /// The name, as `ATTACH ... (TYPE name)` takes it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One sentence: which files, published by whom.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// The options that `ATTACH` takes for this format, each with what it means.
    pub fn options(&self) -> &'static [(&'static str, &'static str)] {
        self.options
    }

    /// Whether the path (a file or a folder) holds one graph of this format. Looks at names and headers only, and
    /// answers `false` for whatever it cannot read.
    pub fn recognises(&self, path: &Path) -> bool {
        (self.recognises)(path)
    }

    /// Opens the path without reading its data.
    ///
    /// # Errors
    /// Why the path is not of this format, or the option that is wrong.
    pub fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
        (self.open)(path, options)
    }
}
