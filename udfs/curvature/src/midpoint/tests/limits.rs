//! Memory, stopping, and threads.

use super::*;

/// Counts what is reserved and done; grants up to a limit; stops after a number of checks.
struct Strict {
    limit: i64,
    held: AtomicI64,
    most: AtomicI64,
    checks_left: AtomicI64,
    expected: AtomicU64,
    done: AtomicU64,
}

impl Strict {
    fn new(limit: i64, checks: i64) -> Self {
        Self {
            limit,
            held: AtomicI64::new(0),
            most: AtomicI64::new(0),
            checks_left: AtomicI64::new(checks),
            expected: AtomicU64::new(0),
            done: AtomicU64::new(0),
        }
    }
}

impl Monitor for Strict {
    fn check(&self) -> Result<(), Stopped> {
        if self.checks_left.fetch_sub(1, Ordering::Relaxed) > 0 { Ok(()) } else { Err(Stopped::Cancelled) }
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        let held = self.held.fetch_add(bytes as i64, Ordering::Relaxed) + bytes as i64;
        if held > self.limit {
            self.release(bytes);
            return Err(Stopped::OutOfMemory(format!("{held} bytes are more than {}", self.limit)));
        }
        self.most.fetch_max(held, Ordering::Relaxed);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes as i64, Ordering::Relaxed);
    }

    fn expect(&self, units: u64) {
        self.expected.fetch_add(units, Ordering::Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
}

#[test]
fn the_host_can_stop_the_kernel_anywhere_and_gets_its_memory_back() {
    let mut random = Lcg(12);
    let arcs = random.arcs(1500, 3000);
    for directed in [false, true] {
        for anchors in [None, Some(40)] {
            let options = MidpointOptions { directed, anchors, ..Default::default() };
            let free = Strict::new(i64::MAX, i64::MAX);
            let whole = midpoint_curvature(1500, &arcs, &options, &free).unwrap();
            assert_eq!(free.held.load(Ordering::Relaxed), 0);
            assert!(free.expected.load(Ordering::Relaxed) > 0);
            assert_eq!(free.expected.load(Ordering::Relaxed), free.done.load(Ordering::Relaxed));
            let checks = i64::MAX - free.checks_left.load(Ordering::Relaxed);
            assert!(checks > 10);
            for stop in [0, 1, 2, 5, checks / 3, checks / 2, checks - 1] {
                let host = Strict::new(i64::MAX, stop);
                let stopped = midpoint_curvature(1500, &arcs, &options, &host);
                assert_eq!(stopped, Err(MidpointError::Stopped(Stopped::Cancelled)), "after {stop} of {checks}");
                assert_eq!(host.held.load(Ordering::Relaxed), 0);
            }
            let most = free.most.load(Ordering::Relaxed);
            let tight = Strict::new(most, i64::MAX);
            assert_eq!(midpoint_curvature(1500, &arcs, &options, &tight).unwrap(), whole);
            let short = Strict::new(most / 20, i64::MAX);
            let refused = midpoint_curvature(1500, &arcs, &options, &short).unwrap_err();
            assert!(matches!(refused, MidpointError::Stopped(Stopped::OutOfMemory(_))));
            assert_eq!(short.held.load(Ordering::Relaxed), 0);
        }
    }
}

#[test]
fn fewer_threads_work_where_memory_is_short() {
    let mut random = Lcg(13);
    let arcs = preferential(3000, 3, &mut random);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let run = |limit| {
        let host = Strict::new(limit, i64::MAX);
        let found = pool.install(|| midpoint_curvature(3000, &arcs, &MidpointOptions::default(), &host));
        (found, host.most.into_inner())
    };
    let (whole, most) = run(i64::MAX);
    let (tight, less) = run(most - 1);
    assert!(less < most);
    assert_eq!(tight.unwrap(), whole.unwrap());
}
