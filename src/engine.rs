//! The engine: what all sessions share (catalogs, functions, memory, threads).

use std::num::NonZeroUsize;
use std::sync::Arc;

use bonnet_sql::Registry;
use datafusion::execution::memory_pool::{GreedyMemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};

use crate::names::Catalogs;
use crate::{Error, Result, Session, functions};

/// The catalog of what a session makes: its tables live in memory.
pub(crate) const MEMORY_CATALOG: &str = "memory";
/// The schema of tables without a schema.
pub(crate) const MAIN_SCHEMA: &str = "main";

/// Bytes of stack of a query thread: DataFusion plans deeply nested statements recursively.
const STACK: usize = 8 << 20;

/// How many of the largest consumers an out-of-memory error names.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(5).expect("five is not zero");

/// What an engine may use. `None` leaves the choice to the engine.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Threads for queries and for kernels; default: the machine's cores.
    pub threads: Option<usize>,
    /// Bytes that queries may hold together; default: no limit.
    pub memory_limit: Option<usize>,
}

/// A database engine: catalogs, functions, memory pool and threads, shared by its sessions. Cheap to clone.
///
/// ```
/// use bonnetdb::{Answer, Engine, EngineOptions};
/// use futures::TryStreamExt;
///
/// let engine = Engine::open(EngineOptions::default())?;
/// let session = engine.session();
/// let batches = engine.block_on(async {
///     match session.execute("SELECT count(*) AS edges FROM cycle(5)").await? {
///         Answer::Rows(rows) => Ok::<_, bonnetdb::Error>(rows.try_collect::<Vec<_>>().await?),
///         Answer::Done(_) => unreachable!("a query answers rows"),
///     }
/// })?;
/// assert_eq!(batches[0].num_rows(), 1);
/// # Ok::<(), bonnetdb::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// The engine's parts.
pub(crate) struct Shared {
    /// Where queries run. Whoever waits for them waits on a runtime of its own.
    runtime: Option<tokio::runtime::Runtime>,
    pub(crate) threads: usize,
    pub(crate) kernels: Arc<rayon::ThreadPool>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) environment: Arc<RuntimeEnv>,
    pub(crate) catalogs: Arc<Catalogs>,
}

impl Shared {
    pub(crate) fn runtime(&self) -> &tokio::runtime::Runtime {
        self.runtime.as_ref().expect("the runtime lives as long as the engine")
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A kernel that is still at work must not hold up the program's end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Engine {
    /// Opens an engine in memory.
    ///
    /// # Errors
    /// If its threads cannot be started.
    pub fn open(options: EngineOptions) -> Result<Self> {
        let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_stack_size(STACK)
            .thread_name("query")
            .enable_all()
            .build()?;
        let mut environment = RuntimeEnvBuilder::new();
        if let Some(limit) = options.memory_limit {
            let pool = TrackConsumersPool::new(GreedyMemoryPool::new(limit), NAMED_CONSUMERS);
            environment = environment.with_memory_pool(Arc::new(pool));
        }
        let registry = Arc::new(functions::registry()?);
        let catalogs = Catalogs::new(&registry)?;
        let shared = Shared {
            runtime: Some(runtime),
            threads,
            kernels: kernel_pool(threads)?,
            registry,
            environment: environment.build_arc()?,
            catalogs,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A new session on this engine, with its own settings and current schema.
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }

    /// The functions of this engine.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }

    /// Waits for a future on the engine's runtime, for programs that have none of their own.
    ///
    /// # Panics
    /// When called on an asynchronous runtime's own thread.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.shared.runtime().block_on(future)
    }
}

/// The pool in which kernels run.
pub(crate) fn kernel_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("kernel {i}")).build();
    pool.map(Arc::new).map_err(|error| Error::statement(format!("the kernel threads cannot be started: {error}")))
}
