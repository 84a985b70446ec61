//! Progress and memory of a job.

use std::sync::atomic::{AtomicU64, Ordering};

use bonnet_graph::{Monitor, Stopped};
use bonnet_sql::Host;

/// The monitor of a job: the work of all jobs was announced before, and a job that ends early leaves none behind.
pub(in crate::sql) struct RunMonitor<'a> {
    host: &'a Host,
    left: AtomicU64,
}

impl<'a> RunMonitor<'a> {
    /// That of a job of so many epochs.
    pub fn new(host: &'a Host, epochs: u64) -> Self {
        Self { host, left: AtomicU64::new(epochs) }
    }
}

impl Monitor for RunMonitor<'_> {
    fn check(&self) -> Result<(), Stopped> {
        self.host.check()
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        self.host.reserve(bytes)
    }

    fn release(&self, bytes: usize) {
        self.host.release(bytes);
    }

    fn advance(&self, units: u64) {
        let units = units.min(self.left.load(Ordering::Relaxed));
        self.left.fetch_sub(units, Ordering::Relaxed);
        self.host.advance(units);
    }
}

impl Drop for RunMonitor<'_> {
    fn drop(&mut self) {
        self.host.advance(*self.left.get_mut());
    }
}
