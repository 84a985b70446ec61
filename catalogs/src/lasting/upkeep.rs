//! OPTIMIZE and VACUUM of a table.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::execution::SessionState;
use deltalake::delta_datafusion::planner::DeltaPlanner;
use deltalake::operations::vacuum::VacuumMode;
use parquet::basic::{Compression, ZstdLevel};

use super::damage;
use super::fast::{data_file, log, plain};
use super::removal_lock::RemovalLock;
use super::store;
use super::table::LastingTable;
use crate::ground::blocking::blocking;

/// The outcome of OPTIMIZE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optimized {
    /// Files that were merged.
    pub removed: u64,
    /// Files that took their place.
    pub added: u64,
}

/// The outcome of VACUUM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vacuumed {
    /// Files that were removed.
    pub files: usize,
}

impl LastingTable {
    /// Merges small files into larger ones, in one commit; the rows stay as they are.
    ///
    /// # Errors
    /// If the table cannot be changed, or another statement removes rows at the same time.
    pub async fn optimize(&self, state: &SessionState) -> Result<Optimized> {
        self.writable()?;
        let _turn = RemovalLock::wait(&self.location()?).await?;
        let table = self.now().await?;
        let with_nan = plain::with_nan(&table, &self.schema());
        // Delta plans nodes of its own.
        let state = datafusion::execution::session_state::SessionStateBuilder::new_from_existing(state.clone())
            .with_query_planner(DeltaPlanner::new())
            .build();
        let files = table.snapshot().map_err(|error| store::failed(self.name(), error))?.snapshot().clone();
        let optimized = table
            .optimize()
            .with_writer_properties(data_file::properties(Compression::ZSTD(ZstdLevel::default()), &with_nan))
            .with_session_state(Arc::new(state))
            .await;
        match optimized {
            Ok((_, metrics)) => Ok(Optimized { removed: metrics.num_files_removed, added: metrics.num_files_added }),
            // The library names no file.
            Err(error) => {
                let folder = self.location()?;
                let size = |size| u64::try_from(size).unwrap_or_default();
                let files: Vec<_> =
                    files.log_data().iter().map(|file| (folder.join(&*file.path()), size(file.size()))).collect();
                let damaged = blocking(move || Ok(damage::of_files(&files))).await?;
                Err(damaged.unwrap_or_else(|| store::failed(self.name(), error)))
            }
        }
    }

    /// Removes files that no version younger than `retain` (by default a week) needs, and files that no version names
    /// once they are a week old: until then a statement may be about to commit them.
    ///
    /// # Errors
    /// If the table cannot be changed.
    pub async fn vacuum(&self, retain: Option<Duration>) -> Result<Vacuumed> {
        self.writable()?;
        let folder = self.location()?;
        blocking(move || log::sweep(&folder)).await?;
        let mut files = 0;
        if let Some(retain) = retain {
            let retain = TimeDelta::from_std(retain).map_err(|_| exec_datafusion_err!("RETAIN: too long a time"))?;
            let vacuum = self.now().await?.vacuum().with_mode(VacuumMode::Lite);
            let vacuum = vacuum.with_retention_period(retain).with_enforce_retention_duration(false);
            files += vacuum.await.map_err(|error| store::failed(self.name(), error))?.1.files_deleted.len();
        }
        let vacuum = self.now().await?.vacuum().with_mode(VacuumMode::Full);
        files += vacuum.await.map_err(|error| store::failed(self.name(), error))?.1.files_deleted.len();
        Ok(Vacuumed { files })
    }
}
