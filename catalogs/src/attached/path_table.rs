//! `FROM 'folder'`: the table that a path stands for, a Delta table or files.

use std::sync::Arc;

use bonnet_common::FileCall;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, plan_err};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlanBuilder;
use futures::future::try_join_all;

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
        false => file_table(path, None, &[], state).await,
    }
}

/// The table of files that are read with options: of several, their rows together, by the names of their columns.
///
/// # Errors
/// As [`path_table`], and if an option does not fit.
pub(crate) async fn files_table(call: &FileCall, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let tables = call.paths.iter().map(|path| file_table(path, Some(call.format), &call.options, state));
    let mut tables = try_join_all(tables).await?.into_iter().zip(&call.paths);
    let Some((first, path)) = tables.next() else { return plan_err!("no file is named") };
    if tables.len() == 0 {
        return Ok(first);
    }
    let scan = |table, path: &String| LogicalPlanBuilder::scan(path.as_str(), provider_as_source(table), None);
    let mut plan = scan(first, path)?;
    for (table, path) in tables {
        plan = plan.union_by_name(scan(table, path)?.build()?)?;
    }
    Ok(Arc::new(ViewTable::new(plan.build()?, None)))
}
