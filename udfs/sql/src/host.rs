//! The engine's side of a running operator: memory, progress, and whether anybody still waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bonnet_graph::{Monitor, Stopped};
use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};

/// What the engine lends to all kernels of a session: the pool of threads and the board of progress. An extension of
/// the session's configuration.
#[derive(Debug, Clone)]
pub struct KernelContext {
    /// The one pool in which kernels run.
    pub pool: Arc<rayon::ThreadPool>,
    /// Where the running statement shows how far it is.
    pub progress: Arc<Progress>,
    /// Where training runs: `auto`, `cpu` or `cuda`.
    pub device: String,
}

/// How far the running statement is, summed over its kernels.
#[derive(Debug, Default)]
pub struct Progress {
    label: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
}

/// A reading of [`Progress`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressReport {
    /// The function at work.
    pub label: String,
    /// Units done.
    pub done: u64,
    /// Units expected so far.
    pub total: u64,
}

impl Progress {
    /// Forgets what was done: a new statement begins.
    pub fn reset(&self) {
        self.lock().clear();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    /// How far the statement is; `None` before a kernel expects any work.
    pub fn report(&self) -> Option<ProgressReport> {
        let total = self.total.load(Ordering::Relaxed);
        if total == 0 {
            return None;
        }
        let done = self.done.load(Ordering::Relaxed).min(total);
        Some(ProgressReport { label: self.lock().clone(), done, total })
    }

    /// Adds work that `function` has before it.
    pub(crate) fn expect(&self, function: &str, units: u64) {
        // Kernels of many small graphs come here at once, and nearly always with the same name.
        if let Ok(mut label) = self.label.try_lock()
            && *label != function
        {
            function.clone_into(&mut label);
        }
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Says that work is done.
    pub(crate) fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, String> {
        self.label.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The [`Monitor`] of a running operator.
pub struct Host {
    function: String,
    cancelled: Arc<AtomicBool>,
    progress: Arc<Progress>,
    memory: MemoryReservation,
}

impl Host {
    /// `cancelled` is set once nobody waits for the answer.
    pub(crate) fn new(
        function: &str,
        context: &TaskContext,
        kernels: &KernelContext,
        cancelled: Arc<AtomicBool>,
    ) -> Self {
        Self {
            function: function.to_owned(),
            cancelled,
            progress: Arc::clone(&kernels.progress),
            memory: MemoryConsumer::new(function).register(context.memory_pool()),
        }
    }
}

impl Host {
    /// The function at work.
    pub(crate) fn function(&self) -> &str {
        &self.function
    }

    /// The bytes that the run has reserved.
    pub(crate) fn reserved(&self) -> usize {
        self.memory.size()
    }
}

impl Monitor for Host {
    fn check(&self) -> Result<(), Stopped> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Stopped::Cancelled) } else { Ok(()) }
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        self.check()?;
        self.memory.try_grow(bytes).map_err(|error| out_of_memory(&self.function, bytes, &error))
    }

    fn release(&self, bytes: usize) {
        self.memory.shrink(bytes.min(self.memory.size()));
    }

    fn expect(&self, units: u64) {
        self.progress.expect(&self.function, units);
    }

    fn advance(&self, units: u64) {
        self.progress.advance(units);
    }
}

/// What a kernel is told when the pool grants no memory.
pub(crate) fn out_of_memory(function: &str, bytes: usize, error: &DataFusionError) -> Stopped {
    Stopped::OutOfMemory(format!(
        "{function}: no room for {bytes} bytes more. {}. Raise --memory-limit, or compute on fewer rows or columns",
        crate::memory_text(error)
    ))
}
