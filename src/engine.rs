//! The engine: what all sessions share (catalogs, functions, memory, threads).

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use bonnet_catalogs::{EngineCatalogs, MAIN_SCHEMA};
use bonnet_sql::{GraphCache, Registry};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};

use crate::attachments;
use crate::memory::SpillingPool;
use bonnet_common::panics;

use crate::{Error, Result, functions, settings};

/// Bytes of stack of a query thread: DataFusion plans deeply nested statements recursively.
const STACK: usize = 8 << 20;

/// The number of the largest consumers that an out-of-memory error names.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(5).expect("five is not zero");

/// The number of sorted files that a merge under a memory limit reads at once: it reserves a batch or more for each.
const MERGED_AT_ONCE: usize = 4;

/// The resources of an engine. `None` leaves the choice to the engine.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Threads for queries and for kernels, 1 to [`MOST_THREADS`](Self::MOST_THREADS); default: the machine's cores.
    pub threads: Option<usize>,
    /// Bytes that queries may hold together; default: no limit.
    pub memory_limit: Option<usize>,
    /// The folder of a lasting database, made if it is missing, in a folder that is there; default: everything is in memory.
    pub database: Option<PathBuf>,
    /// Whether the database, and every one that is attached, is opened for reading alone.
    pub read_only: bool,
}

impl EngineOptions {
    /// The most threads that an engine has.
    pub const MOST_THREADS: usize = settings::MOST_THREADS;
}

impl From<&Path> for EngineOptions {
    fn from(database: &Path) -> Self {
        Self { database: Some(database.to_owned()), ..Self::default() }
    }
}

impl From<&str> for EngineOptions {
    fn from(database: &str) -> Self {
        Path::new(database).into()
    }
}

/// A database engine: catalogs, functions, memory pool and threads, shared by its sessions. Cheap to clone, and to share
/// among threads.
///
/// ```
/// use bonnetdb::{Engine, EngineOptions};
///
/// let engine = Engine::open(EngineOptions::default())?;
/// let batches = engine.sql("SELECT count(*) AS edges FROM cycle(5)")?;
/// assert_eq!(batches[0].num_rows(), 1);
/// # Ok::<(), bonnetdb::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<EngineState>,
}

/// The parts of an engine, which its sessions share.
pub(crate) struct EngineState {
    /// The runtime of queries, which lives as long as the engine. Those who wait for them wait on a runtime of their own.
    runtime: Option<tokio::runtime::Runtime>,
    handle: tokio::runtime::Handle,
    pub(crate) threads: usize,
    pub(crate) kernels: Arc<rayon::ThreadPool>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) environment: Arc<RuntimeEnv>,
    pub(crate) catalogs: Arc<EngineCatalogs>,
    pub(crate) graph_cache: Arc<GraphCache>,
    /// Whether no database may be changed.
    pub(crate) read_only: bool,
}

impl EngineState {
    pub(crate) fn runtime(&self) -> &tokio::runtime::Handle {
        &self.handle
    }
}

impl Drop for EngineState {
    fn drop(&mut self) {
        // A kernel that is still at work must not hold up the program's end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Engine {
    /// Opens an engine: on the lasting database in a folder, `Engine::open("lab.bonnet")`, or as the options say; by
    /// default in memory.
    ///
    /// # Errors
    /// If the database cannot be opened or made, the threads are out of their range or cannot be started.
    pub fn open(options: impl Into<EngineOptions>) -> Result<Self> {
        panics::quiet();
        let options = options.into();
        let threads = match options.threads {
            Some(threads @ 1..=EngineOptions::MOST_THREADS) => threads,
            Some(other) => {
                let most = EngineOptions::MOST_THREADS;
                return Err(Error::statement(format!("threads = {other}: expected a whole number from 1 to {most}")));
            }
            None => std::thread::available_parallelism().map_or(1, usize::from).min(EngineOptions::MOST_THREADS),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_stack_size(STACK)
            .thread_name(panics::THREAD)
            .enable_all()
            .build()?;
        let graph_cache = Arc::new(GraphCache::default());
        // A folder's files are listed when it is read: a list from before would miss what has come since.
        let mut environment = RuntimeEnvBuilder::new().with_object_list_cache_limit(0);
        if let Some(limit) = options.memory_limit {
            // Cached graphs hold memory of the pool, which must not hold them.
            let graphs = Arc::downgrade(&graph_cache);
            let reclaim = move |bytes| graphs.upgrade().is_some_and(|graphs| graphs.reclaim(bytes));
            let pool = TrackConsumersPool::new(SpillingPool::new(limit, reclaim), NAMED_CONSUMERS);
            environment = environment.with_memory_pool(Arc::new(pool)).with_max_spill_merge_fan_in(MERGED_AT_ONCE);
        }
        let registry = Arc::new(functions::registry()?);
        let catalogs = attachments::catalogs(&registry, &graph_cache, options.database.as_deref(), options.read_only)?;
        let shared = EngineState {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
            threads,
            kernels: kernel_pool(threads)?,
            registry,
            environment: environment.build_arc()?,
            catalogs,
            graph_cache,
            read_only: options.read_only,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Makes rows in memory a table of the schema `main`. It lasts as long as the engine, in a lasting database too.
    ///
    /// # Errors
    /// If the batches are none or differ in their columns, or the name is taken.
    pub fn register_batches(&self, name: &str, batches: Vec<RecordBatch>) -> Result<()> {
        let Some(first) = batches.first() else {
            return Err(Error::statement(format!("{name}: no batches, so no columns; give an empty batch")));
        };
        let table = MemTable::try_new(first.schema(), vec![batches])?;
        self.register_table(name, Arc::new(table))
    }

    /// Makes any table of DataFusion's a table of the schema `main`. It lasts as long as the engine, in a lasting
    /// database too.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn register_table(&self, name: &str, table: Arc<dyn TableProvider>) -> Result<()> {
        let catalogs = &self.shared.catalogs;
        let schema = catalogs.get(catalogs.start()).and_then(|catalog| catalog.schema(MAIN_SCHEMA));
        let schema = schema.ok_or_else(|| Error::statement("the engine has lost its schema main"))?;
        schema.register_table(name.to_owned(), table)?;
        Ok(())
    }

    /// The names of the databases: the engine's own, and those that are attached.
    pub fn databases(&self) -> Vec<String> {
        self.shared.catalogs.names()
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
