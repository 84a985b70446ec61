//! Waiting for the engine: without the interpreter's lock, and open to Ctrl-C.

use std::cell::OnceCell;
use std::io;
use std::pin::pin;
use std::time::{Duration, Instant};

use bonnet_sql::RunningStatement;
use pyo3::prelude::*;
use tokio::runtime::Runtime;

/// The interval at which interrupts are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Work that ends sooner reports no progress.
const PATIENCE: Duration = Duration::from_millis(800);

/// When a long read began, and when it last looked for interrupts.
pub(super) struct Pulse {
    began: Instant,
    looked: Instant,
}

impl Pulse {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { began: now, looked: now }
    }

    /// Looks for interrupts, and calls `report`, where neither was done for a while: between pieces that each come too quickly
    /// for [`wait`] to do so.
    ///
    /// # Errors
    /// Those of [`wait`].
    pub(super) fn beat(&mut self, py: Python<'_>, report: impl FnOnce(Python<'_>) -> PyResult<()>) -> PyResult<()> {
        if self.looked.elapsed() < TICK {
            return Ok(());
        }
        self.looked = Instant::now();
        check_interrupts(py)?;
        if self.began.elapsed() > PATIENCE { report(py) } else { Ok(()) }
    }
}

thread_local! {
    /// The engine's own threads may all be in kernels: timers are this thread's.
    static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
}

/// Fails for a signal whose handler raises, as that of Ctrl-C does. Signals come to the main thread; a thread of the engine,
/// which reads a frame for a statement, is told by the end of that statement instead.
fn check_interrupts(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    RunningStatement::check_current().map_err(|error| super::errors::raise(error.into()))
}

/// Waits for work of the engine, without the interpreter's lock. An interrupt drops the work, which ends the query. Calls
/// `report` now and then while it waits.
///
/// # Errors
/// The exception of a signal's handler, the end of the statement that this thread works for, or the exception of the report.
pub(super) fn wait<T: Send>(
    py: Python<'_>,
    report: &(dyn Fn(Python<'_>) -> PyResult<()> + Sync),
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let started = Instant::now();
    let work = async move {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(TICK) => Python::attach(|py| {
                    check_interrupts(py)?;
                    if started.elapsed() > PATIENCE { report(py) } else { Ok(()) }
                })?,
            }
        }
    };
    py.detach(|| RUNTIME.with(|runtime| block_on(runtime, work)))
}

fn block_on<T>(runtime: &OnceCell<Runtime>, work: impl Future<Output = PyResult<T>>) -> PyResult<T> {
    if runtime.get().is_none() {
        let made: io::Result<Runtime> = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let _ = runtime.set(made?);
    }
    match runtime.get() {
        Some(runtime) => runtime.block_on(work),
        None => Err(super::errors::InternalError::new_err("the thread has no timer")),
    }
}
