//! Files of other machines in a build without the feature `remote`: there are none.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::common::{Result, plan_err};
use datafusion::execution::memory_pool::MemoryPool;

/// A file of another machine while it is read.
#[derive(Debug)]
pub(crate) enum Place {}

/// The places among these paths.
pub(crate) fn holding(_: impl Iterator<Item = PathBuf>) -> Vec<Arc<Place>> {
    Vec::new()
}

/// A path as a user knows it.
pub(crate) fn shown(path: &Path) -> PathBuf {
    path.to_owned()
}

/// Why reading a part of the file at a path failed.
pub(crate) fn recorded_failure(_: &Path) -> Option<String> {
    None
}

/// A file that is to be written to an address.
pub struct Upload(Infallible);

impl Upload {
    /// To an address.
    ///
    /// # Errors
    /// Always.
    pub fn to(target: &str) -> Result<Self> {
        plan_err!("'{target}' is not written: this build has no feature remote; name a path, and upload the file")
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        match self.0 {}
    }

    /// The address.
    pub fn shown(&self) -> String {
        match self.0 {}
    }

    /// Writes a file there.
    ///
    /// # Errors
    /// Never.
    pub async fn put(&self, _: &Path, _: &Arc<dyn MemoryPool>) -> Result<()> {
        match self.0 {}
    }
}
