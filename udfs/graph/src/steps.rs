//! The progress of a computation whose end is known before it, or is no later than that.

use crate::Monitor;

/// Work that is expected of one thread. What is left of it when this is dropped counts as done: there is no more to come.
pub struct Steps<'a> {
    monitor: &'a dyn Monitor,
    done: usize,
    total: usize,
}

impl<'a> Steps<'a> {
    /// Expects so many units.
    pub fn new(monitor: &'a dyn Monitor, total: usize) -> Self {
        monitor.expect(total as u64);
        Self { monitor, done: 0, total }
    }

    /// The units done.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Says that `done` units are done in all; nothing where more were done before.
    pub fn reach(&mut self, done: usize) {
        let done = done.min(self.total);
        if done > self.done {
            self.monitor.advance((done - self.done) as u64);
            self.done = done;
        }
    }

    /// Says that `units` more are done.
    pub fn advance(&mut self, units: usize) {
        self.reach(self.done.saturating_add(units));
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.reach(self.total);
    }
}

/// How many hundredths of the way an iteration has come whose changes began with `first` and are `change` now, until they are
/// `tolerance`: they shrink by about the same factor each time.
pub fn hundredths(first: f64, change: f64, tolerance: f64) -> usize {
    let whole = (first / tolerance).ln();
    if whole > 0.0 { (100.0 * (first / change).ln() / whole).clamp(0.0, 100.0).round() as usize } else { 100 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_shrink_by_a_factor_advance_evenly() {
        let of = |change: f64| hundredths(1.0, change, 1e-10);
        assert_eq!([of(2.0), of(1.0), of(1e-5), of(1e-10), of(0.0)], [0, 0, 50, 100, 100]);
        assert_eq!(hundredths(1e-12, 1e-13, 1e-10), 100);
        assert_eq!(hundredths(1.0, f64::NAN, 1e-10), 0);
    }
}
