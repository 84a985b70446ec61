//! The resources of a task's engine.

use std::path::PathBuf;

use clap::Args;

use bonnetdb::EngineOptions;

/// The options that every task has.
#[derive(Debug, Default, Clone, Args)]
pub(super) struct Resources {
    /// Threads for queries; default: the machine's cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=EngineOptions::MOST_THREADS as i64))]
    threads: Option<u32>,

    /// Memory that queries may hold together, such as 512MB (by 1000) or 4GiB (by 1024)
    #[arg(long, value_name = "SIZE", value_parser = bonnetdb::parse_size)]
    memory_limit: Option<usize>,
}

impl Resources {
    /// An engine with these on a database, or in memory.
    pub(super) fn engine(&self, database: Option<PathBuf>, read_only: bool) -> EngineOptions {
        let threads = self.threads.map(|threads| threads as usize);
        EngineOptions { threads, memory_limit: self.memory_limit, database, read_only }
    }
}
