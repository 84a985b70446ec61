//! Ctrl-C in a script.
#![cfg(unix)]

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::bonnet;
use crate::send_ctrl_c;

/// The bound is a second; the rest is for a loaded machine.
const BOUND: Duration = Duration::from_secs(5);

/// A query that nobody could wait for.
const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 100000000) AS a(x), generate_series(1, 100000000) AS b(y) \
                       WHERE x % 7 + y % 11 > 3";

fn wait(mut child: Child) -> (Option<i32>, Duration) {
    let started = Instant::now();
    while started.elapsed() < BOUND {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), started.elapsed());
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("the command outlives its Ctrl-C by {BOUND:?}");
}

#[test]
fn ctrl_c_ends_a_script_in_the_middle_of_a_query() {
    let child = bonnet()
        .args(["-c", "SELECT 1", "-c", ENDLESS, "-c", "SELECT 2"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(2));
    send_ctrl_c(&child);
    assert_eq!(wait(child).0, Some(130));
}

#[test]
fn ctrl_c_ends_a_script_that_waits_for_its_input() {
    let child = bonnet().stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_secs(2));
    send_ctrl_c(&child);
    assert_eq!(wait(child).0, Some(130));
}

#[test]
fn ctrl_c_ends_a_script_whose_rows_nobody_reads() {
    let child = bonnet()
        .args(["--format", "csv", "-c", "SELECT value FROM generate_series(1, 100000000)"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(2));
    send_ctrl_c(&child);
    assert_eq!(wait(child).0, Some(130));
}
