//! The engine: what all sessions share (catalog, memory, threads).

use std::sync::Arc;

use crate::{Result, Session};

/// What an engine may use. `None` leaves the choice to the engine.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Threads for queries and for kernels; default: the machine's cores.
    pub threads: Option<usize>,
    /// Bytes that queries and tables in memory may hold together; default: four fifths of the machine's memory.
    pub memory_limit: Option<usize>,
}

/// A database engine: catalog, memory pool and threads, shared by its sessions. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl Engine {
    /// Opens an engine in memory.
    pub fn open(options: EngineOptions) -> Result<Self> {
        let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
        Ok(Self { shared: Arc::new(Shared { runtime }) })
    }

    /// A new session on this engine, with its own settings and current schema.
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }
}
