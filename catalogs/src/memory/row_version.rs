//! Versions of the rows of a table in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ground::table_version::TableVersion;

/// The version of rows that statements change in memory.
#[derive(Debug)]
pub(super) struct RowVersion {
    table: u64,
    state: Mutex<Changes>,
}

#[derive(Debug, Default)]
struct Changes {
    done: u64,
    /// Changes that have begun and not ended.
    running: usize,
}

impl RowVersion {
    /// The first version of a new table.
    pub(super) fn first() -> Arc<Self> {
        static TABLES: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { table: TABLES.fetch_add(1, Ordering::Relaxed), state: Mutex::default() })
    }

    /// The version, unless the rows are being changed.
    pub(super) fn get(&self) -> Option<TableVersion> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.running == 0).then(|| self.named(&state))
    }

    /// Says that rows of this version are about to change; `None` where they have changed since, or are being changed.
    pub(super) fn change_from(self: &Arc<Self>, version: &TableVersion) -> Option<Changing> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let same = state.running == 0 && self.named(&state) == *version;
        same.then(|| {
            state.running += 1;
            Changing(Arc::clone(self))
        })
    }

    fn named(&self, state: &Changes) -> TableVersion {
        TableVersion { table: format!("memory {}", self.table), version: state.done.to_string() }
    }

    /// Says that rows are about to change; the new version begins when the answer is dropped.
    pub(super) fn change(self: &Arc<Self>) -> Changing {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).running += 1;
        Changing(Arc::clone(self))
    }
}

/// A change of rows that has begun.
pub(super) struct Changing(Arc<RowVersion>);

impl Changing {
    /// The version that begins with its end, if nothing else changes meanwhile.
    pub(super) fn version(&self) -> TableVersion {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        TableVersion { version: (state.done + 1).to_string(), ..self.0.named(&state) }
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running -= 1;
        state.done += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_change_have_no_version_and_a_new_one_afterwards() {
        let (rows, other) = (RowVersion::first(), RowVersion::first());
        let before = rows.get().unwrap();
        assert_eq!(rows.get(), Some(before.clone()));
        assert_ne!(other.get(), Some(before.clone()));
        let (one, two) = (rows.change(), rows.change());
        drop(one);
        assert_eq!(rows.get(), None);
        drop(two);
        let after = rows.get().unwrap();
        assert_eq!(after.table, before.table);
        assert_ne!(after, before);
        assert!(rows.change_from(&before).is_none());
        let third = rows.change_from(&after).unwrap();
        assert!(rows.change_from(&after).is_none());
        drop(third);
        assert!(rows.change_from(&after).is_none());
    }
}
