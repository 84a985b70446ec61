//! The tables whose rows have versions.

use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::listing::ListingTable;
use datafusion::execution::SessionState;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::dataset_table::DatasetTable;
use crate::delta::LastingTable;
use crate::memory_table::MemoryTable;
use crate::table_version::{TableVersion, VersionedTable};

/// The version of any table's rows; `None` where its provider knows none.
///
/// # Errors
/// If files cannot be listed.
pub fn table_version<'a>(
    table: &'a dyn TableProvider,
    state: &'a SessionState,
) -> BoxFuture<'a, Result<Option<TableVersion>>> {
    let versioned: Option<&dyn VersionedTable> = if let Some(table) = table.downcast_ref::<MemoryTable>() {
        Some(table)
    } else if let Some(table) = table.downcast_ref::<LastingTable>() {
        Some(table)
    } else if let Some(table) = table.downcast_ref::<DatasetTable>() {
        Some(table)
    } else if let Some(table) = table.downcast_ref::<ListingTable>() {
        Some(table)
    } else {
        None
    };
    versioned.map_or_else(|| ready(Ok(None)).boxed(), |table| table.row_version(state))
}
