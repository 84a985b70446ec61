//! The running statement, as functions inside expressions see it.
//!
//! DataFusion calls scalar and aggregate functions without a context. Each statement therefore runs in the scope of a
//! [`RunningStatement`], which follows its tasks from thread to thread; a function inside an expression finds there whether its
//! answer is still wanted, memory to reserve, and the engine's kernel threads.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bonnet_graph::{Monitor, Stopped};
use datafusion::common::Result;
use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::future::BoxFuture;

use super::machine;
use crate::error::{out_of_memory, stopped};
use crate::host::KernelContext;

tokio::task_local! {
    static CURRENT: Arc<RunningStatement>;
}

/// Bytes of arguments from which a call is worth the way into the kernel threads.
const WORTH_THREADS: usize = 1 << 16;

/// A running statement.
pub struct RunningStatement {
    cancelled: AtomicBool,
    deadline: Option<Instant>,
    kernels: KernelContext,
    memory: Arc<dyn MemoryPool>,
}

impl RunningStatement {
    /// A statement that may use these kernel threads and this memory, and has to be done by `deadline`.
    pub fn new(kernels: KernelContext, memory: Arc<dyn MemoryPool>, deadline: Option<Instant>) -> Arc<Self> {
        // One tracer serves the whole process. Where the host program has its own, functions inside expressions run
        // to their end.
        let _ = set_join_set_tracer(&FollowTasks);
        Arc::new(Self { cancelled: AtomicBool::new(false), deadline, kernels, memory })
    }

    /// Runs a future, and all tasks that it starts, as part of this statement.
    pub fn scope<F: Future>(self: &Arc<Self>, future: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(Arc::clone(self), future)
    }

    /// Cancels the statement: its kernels stop at their next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Fails when the statement that the calling thread works for is cancelled or past its deadline.
    ///
    /// # Errors
    /// That the query was cancelled.
    pub fn check_current() -> Result<()> {
        ExpressionHost::new("").check().map_err(stopped)
    }

    /// Whether nobody waits for the statement any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The statement that the calling thread works for.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Runs a closure as part of a statement.
    pub(crate) fn enter<T>(statement: Option<Arc<Self>>, work: impl FnOnce() -> T) -> T {
        match statement {
            Some(statement) => CURRENT.sync_scope(statement, work),
            None => work(),
        }
    }
}

/// Carries the statement into the tasks that DataFusion starts.
struct FollowTasks;

type Output = Box<dyn Any + Send>;

impl JoinSetTracer for FollowTasks {
    fn trace_future(&self, future: BoxFuture<'static, Output>) -> BoxFuture<'static, Output> {
        match RunningStatement::current() {
            Some(statement) => Box::pin(CURRENT.scope(statement, future)),
            None => future,
        }
    }

    fn trace_block(&self, block: Box<dyn FnOnce() -> Output + Send>) -> Box<dyn FnOnce() -> Output + Send> {
        match RunningStatement::current() {
            Some(statement) => Box::new(move || CURRENT.sync_scope(statement, block)),
            None => block,
        }
    }
}

/// The [`Monitor`] of a function inside an expression. Outside a statement it grants everything.
pub struct ExpressionHost<'a> {
    function: &'a str,
    statement: Option<Arc<RunningStatement>>,
    // Few calls reserve: registering a consumer for each would cost more than most of them.
    memory: OnceLock<MemoryReservation>,
}

impl<'a> ExpressionHost<'a> {
    /// The running statement, for a call of this function.
    pub fn new(function: &'a str) -> Self {
        Self { function, statement: RunningStatement::current(), memory: OnceLock::new() }
    }

    /// Calls a function's body, in the kernel threads where there is much to do.
    pub fn call<T: Send>(&self, bytes: usize, heavy: bool, body: impl FnOnce() -> T + Send) -> T {
        match &self.statement {
            Some(statement) if self.in_threads(bytes, heavy) => statement.kernels.pool.install(body),
            _ => body(),
        }
    }

    /// Whether a call of so many bytes runs in the kernel threads.
    pub fn in_threads(&self, bytes: usize, heavy: bool) -> bool {
        self.statement.is_some() && (heavy || bytes >= WORTH_THREADS)
    }
}

impl Monitor for ExpressionHost<'_> {
    fn check(&self) -> Result<(), Stopped> {
        let Some(statement) = &self.statement else { return Ok(()) };
        let late = statement.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || statement.is_cancelled() { Err(Stopped::Cancelled) } else { Ok(()) }
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        self.check()?;
        let Some(statement) = &self.statement else { return Ok(()) };
        let memory = self.memory.get_or_init(|| MemoryConsumer::new(self.function).register(&statement.memory));
        machine::check(self.function, statement.memory.as_ref(), memory.size(), bytes)?;
        memory.try_grow(bytes).map_err(|error| out_of_memory(self.function, bytes, &error))
    }

    fn release(&self, bytes: usize) {
        if let Some(memory) = self.memory.get() {
            memory.shrink(bytes.min(memory.size()));
        }
    }

    fn expect(&self, units: u64) {
        if let Some(statement) = &self.statement {
            statement.kernels.progress.expect(self.function, units);
        }
    }

    fn advance(&self, units: u64) {
        if let Some(statement) = &self.statement {
            statement.kernels.progress.advance(units);
        }
    }
}
