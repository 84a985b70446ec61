//! The engine's side of a running operator: memory, progress and cancellation.

pub(crate) mod compute_time;
mod machine;
pub(crate) mod running_statement;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bonnet_graph::{Monitor, Stopped};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

use crate::error::out_of_memory;

/// The resources that the engine lends to all kernels of a session. An extension of the session's configuration.
#[derive(Debug, Clone)]
pub struct KernelContext {
    /// The one pool in which kernels run.
    pub pool: Arc<rayon::ThreadPool>,
    /// The progress of the running statement.
    pub progress: Arc<Progress>,
    /// The device for training: `auto`, `cpu` or `cuda`.
    pub device: String,
}

/// The progress of the running statement, summed over its kernels.
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
    /// Starts again from 0 for a new statement.
    pub fn reset(&self) {
        self.lock().clear();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    /// The progress so far; `None` before a kernel expects any work.
    pub fn report(&self) -> Option<ProgressReport> {
        let total = self.total.load(Ordering::Relaxed);
        if total == 0 {
            return None;
        }
        let done = self.done.load(Ordering::Relaxed).min(total);
        Some(ProgressReport { label: self.lock().clone(), done, total })
    }

    /// Adds to the work that is expected, of `function`.
    pub(crate) fn expect(&self, function: &str, units: u64) {
        // Kernels of many small graphs come here at once, and nearly always with the same name.
        if let Ok(mut label) = self.label.try_lock()
            && *label != function
        {
            function.clone_into(&mut label);
        }
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Adds to the work that is done.
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
    pool: Arc<dyn MemoryPool>,
}

impl Host {
    /// `cancelled` is set when the query is cancelled.
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
            pool: Arc::clone(context.memory_pool()),
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
        machine::check(&self.function, self.pool.as_ref(), self.memory.size(), bytes)?;
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
