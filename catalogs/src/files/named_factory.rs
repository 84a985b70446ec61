//! The formats of a session's statements, CREATE EXTERNAL TABLE among them, as those of files in FROM: columns by their names, and
//! errors that name the file.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::common::{GetExt, Result};
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};

use super::arrow_by_name::ArrowByName;
use super::file_fault::Kind;
use super::format::NamedFormat;

/// A factory of formats.
#[derive(Debug)]
pub struct NamedFormatFactory {
    inner: Arc<dyn FileFormatFactory>,
    kind: Kind,
}

impl NamedFormatFactory {
    /// The factory of the same format; `None` for one that names its files itself.
    pub fn of(inner: &Arc<dyn FileFormatFactory>) -> Option<Self> {
        let kind = Kind::of(&inner.get_ext()).filter(|kind| *kind != Kind::Csv)?;
        Some(Self { inner: Arc::clone(inner), kind })
    }

    fn named(&self, format: Arc<dyn FileFormat>) -> Arc<dyn FileFormat> {
        let format = if self.kind == Kind::Arrow { Arc::new(ArrowByName::default()) } else { format };
        Arc::new(NamedFormat::new(format, self.kind, Vec::new()))
    }
}

impl FileFormatFactory for NamedFormatFactory {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(self.named(self.inner.create(state, options)?))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        self.named(self.inner.default())
    }
}

impl GetExt for NamedFormatFactory {
    fn get_ext(&self) -> String {
        self.inner.get_ext()
    }
}
