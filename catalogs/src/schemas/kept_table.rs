//! What stands under a name of a schema, so that a transaction can put it back.

use std::sync::Arc;

use datafusion::datasource::TableProvider;

use crate::lasting::KeptEntry;

/// A table or view as it stands in its schema. It stays readable when the schema has another one under its name, or none: in memory
/// by this handle, in a database until VACUUM removes its files, a week later.
#[derive(Debug, Clone)]
pub struct KeptTable(pub(crate) Kept);

#[derive(Debug, Clone)]
pub(crate) enum Kept {
    Provider(Arc<dyn TableProvider>),
    Entry(KeptEntry),
}

impl KeptTable {
    /// Whether it is the same table, not one that was made under its name later. Rows that it has got or lost meanwhile make
    /// no other table.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kept::Provider(one), Kept::Provider(other)) => Arc::ptr_eq(one, other),
            (Kept::Entry(one), Kept::Entry(other)) => one == other,
            _ => false,
        }
    }
}
