//! The rows of a table, kept so that a transaction can put them back.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use super::engine_schema::EngineSchema;
use crate::ground::table_version::TableVersion;
use crate::lasting::{LastingTable, overtaken};
use crate::memory::memory_table::{KeptBatches, MemoryTable};

/// The rows that a table had at some time. Of a lasting table they are a version, kept until VACUUM; in memory those that a change may
/// take away are held, and count against the memory limit.
#[derive(Debug)]
pub struct KeptRows {
    table: Arc<dyn TableProvider>,
    version: TableVersion,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Memory(KeptBatches),
    Version(u64),
}

impl KeptRows {
    /// The rows that a table has now; `None` where they cannot be put back: those of files, of other programs, and of a table that is
    /// being changed. `adds` says that the change to come only adds rows, for which none need be held.
    ///
    /// # Errors
    /// If the table cannot be read, or the pool has no memory for the rows.
    pub async fn of(schema: &dyn EngineSchema, table: &str, adds: bool) -> Result<Option<Self>> {
        let Some(table) = schema.table(table).await? else { return Ok(None) };
        if let Some(memory) = table.downcast_ref::<MemoryTable>() {
            let kept = memory.kept(adds).await?;
            return Ok(kept.map(|(version, kept)| Self {
                table: Arc::clone(&table),
                version,
                rows: Rows::Memory(kept),
            }));
        }
        let Some(lasting) = table.downcast_ref::<LastingTable>().filter(|table| table.writable().is_ok()) else {
            return Ok(None);
        };
        let (version, number) = (lasting.table_version()?, lasting.number());
        Ok(Some(Self { version, rows: Rows::Version(number), table }))
    }

    /// Which rows they are.
    pub fn version(&self) -> &TableVersion {
        &self.version
    }

    /// Whether `after`, of the same table, is one change later: in a database every change has a number, and in memory each change
    /// counts.
    pub fn just_before(&self, after: &TableVersion) -> bool {
        let number = |version: &TableVersion| version.version.parse::<u64>().ok();
        self.version.table == after.table
            && number(&self.version).zip(number(after)).is_some_and(|(one, other)| one + 1 == other)
    }

    /// Whether what is held here is enough to undo a change of `later` rows of the same table, too: rows that were added are cut off
    /// where the change to be undone only added some.
    pub fn serves_for(&self, later: &Self) -> bool {
        match (&self.rows, &later.rows) {
            (Rows::Memory(KeptBatches::First(_)), Rows::Memory(later)) => matches!(later, KeptBatches::First(_)),
            _ => true,
        }
    }

    /// Gives the table of this name its rows again, if it still has those of the version `after`; their version now.
    ///
    /// # Errors
    /// If another session has changed or replaced it since; it stays as it is.
    pub async fn put_back(
        &self,
        schema: &dyn EngineSchema,
        table: &str,
        after: Option<&TableVersion>,
    ) -> Result<TableVersion> {
        let (Some(now), Some(after)) = (schema.table(table).await?, after) else { return overtaken() };
        match (&self.rows, now.downcast_ref::<MemoryTable>(), now.downcast_ref::<LastingTable>()) {
            (Rows::Memory(kept), Some(memory), _) if Arc::ptr_eq(&now, &self.table) => {
                memory.put_back(kept, after).await.map_or_else(overtaken, Ok)
            }
            (Rows::Version(before), _, Some(lasting)) if lasting.table_version()? == *after => {
                let version = lasting.restore(*before).await?;
                Ok(TableVersion { version: version.to_string(), table: after.table.clone() })
            }
            _ => overtaken(),
        }
    }
}
