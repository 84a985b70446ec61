//! The monitor of a long computation: its memory, its progress, and when to stop.

use std::fmt;

/// The host of a long computation. Kernels call it between blocks of work, at least every few milliseconds.
pub trait Monitor: Send + Sync {
    /// Fails once the computation is no longer wanted.
    fn check(&self) -> Result<(), Stopped>;

    /// Asks for `bytes` of memory *before* they are allocated. Prefer [`Reservation::new`], which gives them back.
    fn reserve(&self, bytes: usize) -> Result<(), Stopped>;

    /// Gives back what [`Monitor::reserve`] granted.
    fn release(&self, bytes: usize);

    /// Adds `units` to the work that is to be expected, in whatever unit the kernel counts.
    fn expect(&self, _units: u64) {}

    /// Says that `units` of the expected work are done.
    fn advance(&self, _units: u64) {}
}

/// Why a computation ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// Nobody waits for the answer any more.
    #[error("the query was cancelled")]
    Cancelled,
    /// The host granted no memory; the message says how much was asked for and what holds the rest.
    #[error("{0}")]
    OutOfMemory(String),
}

/// A host that grants everything and never interrupts: for tests, benchmarks and programs without an engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unmonitored;

impl Monitor for Unmonitored {
    fn check(&self) -> Result<(), Stopped> {
        Ok(())
    }

    fn reserve(&self, _bytes: usize) -> Result<(), Stopped> {
        Ok(())
    }

    fn release(&self, _bytes: usize) {}
}

/// Memory granted by a [`Monitor`], given back on drop.
///
/// Sums below [`Reservation::SMALLEST`] are not asked for: kernels of many small graphs would spend more on asking than on
/// the work, and a thread holds few of them at a time.
pub struct Reservation<'a> {
    monitor: &'a dyn Monitor,
    bytes: usize,
    /// What the host knows of.
    granted: usize,
}

impl<'a> Reservation<'a> {
    /// The smallest sum that is asked for: a page.
    pub const SMALLEST: usize = 4096;

    /// Reserves `bytes` or says why not.
    pub fn new(monitor: &'a dyn Monitor, bytes: usize) -> Result<Self, Stopped> {
        let mut reservation = Self { monitor, bytes: 0, granted: 0 };
        reservation.grow(bytes)?;
        Ok(reservation)
    }

    /// Reserves `bytes` more.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Stopped> {
        let bytes = self.bytes + bytes;
        if bytes < Self::SMALLEST {
            self.monitor.check()?;
        } else {
            self.monitor.reserve(bytes - self.granted)?;
            self.granted = bytes;
        }
        self.bytes = bytes;
        Ok(())
    }

    /// The host that granted the memory.
    pub fn monitor(&self) -> &'a dyn Monitor {
        self.monitor
    }

    /// Asks the monitor whether the answer is still wanted.
    pub fn check(&self) -> Result<(), Stopped> {
        self.monitor.check()
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.granted > 0 {
            self.monitor.release(self.granted);
        }
    }
}

impl fmt::Debug for Reservation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("bytes", &self.bytes).finish()
    }
}
