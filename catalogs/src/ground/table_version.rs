//! Versions of rows: caches compare them to detect changes.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bonnet_common::Version;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::listing::ListingTable;
use datafusion::execution::SessionState;
use datafusion::object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, TryStreamExt};

/// Files that changed less long ago may change again without a trace: the clocks of file systems tick this slowly.
const SETTLED: Duration = Duration::from_millis(50);

/// The rows of a table at some time. Equal values are equal rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableVersion {
    /// Which table it is, among all of the process; of files, how they are read, too.
    pub table: String,
    /// Changes with every change of its rows.
    pub version: String,
}

/// A table whose rows have versions. [`versioned`](crate::versioned) finds it in a provider. Those of a table that keeps a
/// history have numbers too.
pub trait VersionedTable: TableProvider {
    /// A provider as a table whose rows have versions, if it is of this type.
    fn of_provider(table: &dyn TableProvider) -> Option<&dyn VersionedTable>
    where
        Self: Sized,
    {
        table.downcast_ref::<Self>().map(|table| table as &dyn VersionedTable)
    }

    /// The version of the rows that a scan would read now; `None` while they change, or may change without a trace.
    ///
    /// # Errors
    /// If files cannot be listed.
    fn row_version<'a>(&'a self, state: &'a SessionState) -> BoxFuture<'a, Result<Option<TableVersion>>>;

    /// The number of the version that is read; `None` without a history.
    fn version(&self) -> Option<u64> {
        None
    }

    /// The table as it was; `None` without a history.
    ///
    /// # Errors
    /// If there was no such version, or its files were vacuumed; says which versions there are.
    fn at_version(&self, _version: Version) -> BoxFuture<'_, Result<Option<Arc<dyn TableProvider>>>> {
        ready(Ok(None)).boxed()
    }

    /// The commits of the table as rows; `None` without a history.
    ///
    /// # Errors
    /// If its log cannot be read.
    fn history(&self) -> BoxFuture<'_, Result<Option<Arc<dyn TableProvider>>>> {
        ready(Ok(None)).boxed()
    }
}

/// Whether files that changed last at this time can no longer change without a trace.
pub(crate) fn is_settled(modified: Option<SystemTime>) -> bool {
    // A time to come is a clock that is wrong.
    modified.is_none_or(|modified| modified.elapsed().is_ok_and(|age| age >= SETTLED))
}

impl VersionedTable for ListingTable {
    fn row_version<'a>(&'a self, state: &'a SessionState) -> BoxFuture<'a, Result<Option<TableVersion>>> {
        async move {
            let mut files = Vec::new();
            for path in self.table_paths() {
                let store = state.runtime_env().object_store(path)?;
                // A file, or else all files below: never those that a cache remembers.
                match store.head(path.prefix()).await {
                    Ok(file) if !path.is_collection() && path.get_glob().is_none() => files.push(file),
                    _ => {
                        let below: Vec<_> = store.list(Some(path.prefix())).try_collect().await?;
                        files.extend(below.into_iter().filter(|file| {
                            file.location.as_ref().ends_with(&self.options().file_extension)
                                && path.contains(&file.location, false)
                        }));
                    }
                }
            }
            files.sort_by(|a, b| a.location.cmp(&b.location));
            if !is_settled(files.iter().map(|file| SystemTime::from(file.last_modified)).max()) {
                return Ok(None);
            }
            let file = |file: &ObjectMeta| {
                let (time, tag) = (file.last_modified.timestamp_nanos_opt(), file.e_tag.as_deref().unwrap_or_default());
                format!("{} {} {time:?} {tag}", file.location, file.size)
            };
            let paths: Vec<&str> = self.table_paths().iter().map(|path| path.as_str()).collect();
            let table = format!("{paths:?} {:?} {:?}", self.options(), self.schema());
            Ok(Some(TableVersion { table, version: files.iter().map(file).collect::<Vec<_>>().join("; ") }))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_settle() {
        let now = SystemTime::now();
        assert!(is_settled(None) && is_settled(Some(now - Duration::from_secs(1))));
        assert!(!is_settled(Some(now)) && !is_settled(Some(now + Duration::from_secs(3600))));
    }
}
