//! The kinds of tables whose rows have versions.

use datafusion::catalog::TableProvider;
use datafusion::datasource::listing::ListingTable;

use crate::dataset_table::DatasetTable;
use crate::delta::LastingTable;
use crate::memory_table::MemoryTable;
use crate::table_version::VersionedTable;

/// The versions of any table's rows; `None` where its provider knows none.
pub fn versioned(table: &dyn TableProvider) -> Option<&dyn VersionedTable> {
    if let Some(table) = table.downcast_ref::<MemoryTable>() {
        Some(table)
    } else if let Some(table) = table.downcast_ref::<LastingTable>() {
        Some(table)
    } else if let Some(table) = table.downcast_ref::<DatasetTable>() {
        Some(table)
    } else if let Some(table) = table.downcast_ref::<ListingTable>() {
        Some(table)
    } else {
        None
    }
}
