//! Versions of tables' rows, by which graphs are cached.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;

/// The rows of a table at some time. Equal values are equal rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableVersion {
    /// The table's identity, among all of the process.
    pub table: String,
    /// Changes with every change of its rows.
    pub version: String,
}

/// A relation that is all rows of a table, with some of its columns, perhaps under other names.
#[derive(Debug, Clone)]
pub(crate) struct WholeTable {
    pub(crate) table: Arc<dyn TableProvider>,
    /// The table as the query names it.
    pub(crate) name: String,
    /// The version of its rows before the scan was planned.
    pub(crate) version: TableVersion,
    /// The table's name of each column of the relation.
    pub(crate) columns: BTreeMap<String, String>,
}
