//! The kinds of tables whose rows have versions.

use datafusion::catalog::TableProvider;
use datafusion::datasource::listing::ListingTable;

use crate::attached::dataset_table::DatasetTable;
use crate::ground::table_version::VersionedTable;
use crate::lasting::LastingTable;
use crate::memory::memory_table::MemoryTable;

/// A kind of table, as which a provider is taken if it is one.
type Kind = fn(&dyn TableProvider) -> Option<&dyn VersionedTable>;

/// The kinds.
const KINDS: [Kind; 4] =
    [MemoryTable::of_provider, LastingTable::of_provider, DatasetTable::of_provider, ListingTable::of_provider];

/// The versions of any table's rows; `None` where its provider knows none.
pub fn versioned(table: &dyn TableProvider) -> Option<&dyn VersionedTable> {
    KINDS.iter().find_map(|kind| kind(table))
}
