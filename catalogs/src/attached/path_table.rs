//! `FROM 'folder'`: the table that a path stands for, a Delta table or files.

use std::sync::Arc;

use bonnet_common::FileCall;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlanBuilder;
use futures::future::try_join_all;

use crate::files::file_table::{file_table, local_path};
use crate::ground::file_path::is_address;
use crate::lasting::LastingTable;

/// The table of a path: a Delta table, an address of a file of another machine, or a file, a glob or a folder of files of one format (partition folders `key=value` become
/// columns). Reads the columns from the first rows of the files, of JSON from all. A missing file is an error that says what its
/// folder holds.
///
/// # Errors
/// If the path names no table, or none that can be read.
pub async fn path_table(path: &str, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    if !is_address(path) {
        let folder = local_path(path)?;
        if folder.join("_delta_log").is_dir() {
            return Ok(Arc::new(LastingTable::at(&folder).await?));
        }
    }
    file_table(&[path.to_owned()], None, &[], state).await
}

/// The table of files that are read with options, united by the names of their columns. A path that is named again is read
/// again.
///
/// # Errors
/// As [`path_table`], and if an option does not fit.
pub(crate) async fn files_table(call: &FileCall, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    // A listing has each file once.
    let mut lists: Vec<Vec<String>> = vec![Vec::new()];
    for path in &call.paths {
        match lists.iter_mut().find(|list| !list.contains(path)) {
            Some(list) => list.push(path.clone()),
            None => lists.push(vec![path.clone()]),
        }
    }
    let tables = lists.iter().map(|list| file_table(list, Some(call.format), &call.options, state));
    let mut tables = try_join_all(tables).await?.into_iter();
    let (Some(first), true) = (tables.next(), tables.len() > 0) else {
        return file_table(&call.paths, Some(call.format), &call.options, state).await;
    };
    let scan = |table, at: usize| LogicalPlanBuilder::scan(format!("files_{at}"), provider_as_source(table), None);
    let mut plan = scan(first, 0)?;
    for (at, table) in tables.enumerate() {
        plan = plan.union_by_name(scan(table, at + 1)?.build()?)?;
    }
    Ok(Arc::new(ViewTable::new(plan.build()?, None)))
}
