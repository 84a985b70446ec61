//! Tables that take more than a name to be found: those of another time, and files that are read with options.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use futures::future::BoxFuture;

use crate::TimeTravel;

/// A call such as `read_csv(['a.txt', 'b.txt'], delim => ';')`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileCall {
    /// The paths, patterns or folders, at least one.
    pub paths: Vec<String>,
    /// The format, one of [`FILE_OPTIONS`](crate::FILE_OPTIONS).
    pub format: &'static str,
    /// The options by their names, with their values as they are written, strings without their quotes.
    pub options: Vec<(String, String)>,
}

/// What a session's catalogs find for a statement beside the tables under their names.
pub trait TableLookup: Send + Sync {
    /// The rows of a table at another time, or its history. `name` is for errors alone.
    ///
    /// # Errors
    /// If the table keeps no history, or has no such version.
    fn at<'a>(
        &'a self,
        name: &'a str,
        table: Arc<dyn TableProvider>,
        asked: TimeTravel,
    ) -> BoxFuture<'a, Result<Arc<dyn TableProvider>>>;

    /// The table of files.
    ///
    /// # Errors
    /// If there is no such file, an option does not fit, or the session may not read files.
    fn files<'a>(
        &'a self,
        call: &'a FileCall,
        state: &'a SessionState,
    ) -> BoxFuture<'a, Result<Arc<dyn TableProvider>>>;
}

/// The lookup of a session, as an extension of its configuration.
pub struct LookupExtension(pub Arc<dyn TableLookup>);
