//! The time that a call computes, as EXPLAIN ANALYZE shows it: that of its thread, less what the thread waits for rows of its
//! inputs or for the query to take its own.

use std::cell::RefCell;
use std::time::Instant;

use datafusion::physical_plan::metrics::Time;

thread_local! {
    /// The metric of the call that runs on this thread, and since when it computes.
    static RUNNING: RefCell<Option<(Time, Instant)>> = const { RefCell::new(None) };
}

/// Counts the time of `work`.
pub(crate) fn computing<T>(time: Time, work: impl FnOnce() -> T) -> T {
    RUNNING.set(Some((time, Instant::now())));
    let _ended = Ended;
    work()
}

/// Leaves the time of `wait` out.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let running = stop();
    let answer = wait();
    RUNNING.set(running.map(|time| (time, Instant::now())));
    answer
}

fn stop() -> Option<Time> {
    RUNNING.take().map(|(time, since)| {
        time.add_elapsed(since);
        time
    })
}

/// A panic ends the work, too.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        stop();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_that_is_waited_is_not_computed() {
        let time = Time::new();
        let answer = computing(time.clone(), || {
            sleep(Duration::from_millis(20));
            waiting(|| sleep(Duration::from_secs(1)));
            sleep(Duration::from_millis(20));
            waiting(|| 7)
        });
        assert_eq!(answer, 7);
        let computed = Duration::from_nanos(time.value() as u64);
        assert!((Duration::from_millis(40)..Duration::from_millis(900)).contains(&computed), "{computed:?}");
        assert_eq!(waiting(|| 8), 8);
        assert_eq!(Duration::from_nanos(time.value() as u64), computed);
    }
}
