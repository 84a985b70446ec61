//! `FROM 'folder'`: the table that a path stands for, a Delta table or files.

use std::sync::Arc;

use bonnet_common::FileCall;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::execution::SessionState;

use crate::files::file_table::{file_table, local_path};
use crate::lasting::LastingTable;

/// The table of a path: a Delta table, or a file, a glob or a folder of files of one format (partition folders `key=value` become
/// columns). Reads the columns from the first rows of the files, of JSON from all. A missing file is an error that says what its
/// folder holds.
///
/// # Errors
/// If the path names no table, or none that can be read.
pub async fn path_table(path: &str, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let folder = local_path(path)?;
    match folder.join("_delta_log").is_dir() {
        true => Ok(Arc::new(LastingTable::at(&folder).await?)),
        false => file_table(&[path.to_owned()], None, &[], state).await,
    }
}

/// The table of files that are read with options, united by the names of their columns.
///
/// # Errors
/// As [`path_table`], and if an option does not fit.
pub(crate) async fn files_table(call: &FileCall, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    file_table(&call.paths, Some(call.format), &call.options, state).await
}
