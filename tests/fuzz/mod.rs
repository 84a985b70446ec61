//! Whatever a file holds and whatever is typed: an answer or an error, in time and within the memory limit, never a panic.
//!
//! Valid files and statements are damaged at random and read by a process of their own, which a defect may take down. A
//! case is a number: the same number and seed are the same damage. `BONNET_FUZZ_SECONDS` is how long each of the tests goes
//! on (default 4), `BONNET_FUZZ_SEED` gives other cases (default 0), `BONNET_FUZZ_CASE` runs one case alone, and
//! `BONNET_FUZZ_SETS` only the sets of files, or the scripts, whose names hold this text.
#![cfg(target_os = "linux")]

mod bytes;
mod containers;
mod files;
pub(super) mod random;
mod sql;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use random::Random;

/// A step of a case that is no further after this is a hang. The limit of a statement is a second, a reader is done in
/// milliseconds; the rest is for a loaded machine.
const HANG: Duration = Duration::from_secs(20);

/// Beyond so much address space the system refuses a worker its memory, in KiB: an allocation of any size that a file
/// claims ends the worker instead of the machine.
const ADDRESS_SPACE: u64 = 12 << 20;

/// The number of what is done before the first case.
const BEFORE: u64 = u64::MAX;

/// How the line begins in which a worker says what it did.
const COUNTS: &str = "cases to ";

/// Findings after which a run stops.
const MOST_FINDINGS: usize = 20;

/// Runs one case after the other.
type Cases = Box<dyn FnMut(&mut Random, &Step)>;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is '{text}'; a whole number is expected")))
}

fn wanted(name: &str) -> bool {
    std::env::var("BONNET_FUZZ_SETS").map_or(true, |part| name.contains(&part))
}

#[test]
fn damaged_files_are_errors() {
    watch("files");
}

#[test]
fn damaged_statements_are_errors() {
    watch("sql");
}

/// Runs workers of a kind until the time is over, the next one after a finding, and fails with all findings.
fn watch(kind: &str) {
    let time = Duration::from_secs(number("BONNET_FUZZ_SECONDS").unwrap_or(4));
    let seed = number("BONNET_FUZZ_SEED").unwrap_or(0);
    let single = number("BONNET_FUZZ_CASE");
    let start = Instant::now();
    let mut findings: Vec<String> = Vec::new();
    let mut first = single.unwrap_or(0);
    loop {
        let left = time.saturating_sub(start.elapsed()).as_secs().max(1);
        let folder = tempfile::tempdir().unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let limited = format!("ulimit -v {ADDRESS_SPACE}; ulimit -c 0; exec \"$0\" \"$@\"");
        let mut worker = Command::new("bash")
            .args(["-c", &limited])
            .arg(std::env::current_exe().unwrap())
            .args(["fuzz::worker", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env("BONNET_FUZZ_WORKER", format!("{kind} {seed} {first} {left} {}", u8::from(single.is_some())))
            // Glibc gives every thread an arena otherwise, which says nothing about what the readers hold.
            .env("MALLOC_ARENA_MAX", "2")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let at = folder.path().join("at");
        let (mut seen, mut since) = (String::new(), Instant::now());
        let ended = loop {
            if let Some(status) = worker.try_wait().unwrap() {
                break if status.success() { None } else { Some(status.to_string()) };
            }
            let now = std::fs::read_to_string(&at).unwrap_or_default();
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > HANG {
                worker.kill().unwrap();
                worker.wait().unwrap();
                break Some(format!("no step further after {HANG:?}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let at = std::fs::read_to_string(&at).unwrap_or_default();
        let case =
            at.split_whitespace().next().and_then(|case| case.parse::<u64>().ok()).filter(|case| *case != BEFORE);
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        let Some(how) = ended else {
            let done = log.lines().find_map(|line| line.strip_prefix(COUNTS)).expect("a worker says what it did");
            println!("{kind}, seed {seed}, cases {first} to {done}");
            break;
        };
        let mut finding = format!("BONNET_FUZZ_SEED={seed} BONNET_FUZZ_CASE={at}\n{how}\n");
        // What went wrong comes first, then where; before it, what the test driver says.
        for line in log.lines().filter(|line| !line.is_empty() && !line.starts_with("running")).take(40) {
            let _ = writeln!(finding, "    {line}");
        }
        let kept = folder.keep();
        let _ = writeln!(finding, "    the files are kept in '{}'", kept.display());
        eprintln!("{finding}");
        findings.push(finding);
        first = case.map_or(first, |case| case + 1);
        if single.is_some() || start.elapsed() >= time || findings.len() == MOST_FINDINGS || case.is_none() {
            break;
        }
    }
    assert!(findings.is_empty(), "{} findings\n\n{}", findings.len(), findings.join("\n"));
}

/// What panicked, whoever caught it.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

static ANSWERED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// The process that runs cases; the tests above start it.
#[test]
#[ignore = "started by the other tests of this module"]
fn worker() {
    let Ok(task) = std::env::var("BONNET_FUZZ_WORKER") else { return };
    let [kind, seed, first, seconds, single] = task.split(' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    std::panic::set_hook(Box::new(|panic| {
        // The readers of graphs catch the panics of these packages.
        let source = panic.location().map(|place| place.file()).unwrap_or_default();
        if ["/parquet-", "/arrow-", "/bytes-"].iter().any(|package| source.contains(package)) {
            return;
        }
        let text = format!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
        PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }));
    let (seed, first, seconds): (u64, u64, u64) =
        (seed.parse().unwrap(), first.parse().unwrap(), seconds.parse().unwrap());
    let start = Instant::now();
    let mut cases = match kind {
        "files" => files::cases(),
        _ => sql::cases(),
    };
    for case in first.. {
        let step = Step { case };
        cases(&mut Random::new(seed, case), &step);
        if single == "1" || start.elapsed().as_secs() >= seconds {
            println!("\n{COUNTS}{case}: {ANSWERED:?} answered, {REFUSED:?} refused");
            break;
        }
    }
}

/// One case, step by step.
struct Step {
    case: u64,
}

impl Step {
    /// Says what is done next, runs it, and ends the process if it panics, takes longer or holds more than it may: `limit`
    /// bytes above what the process held before.
    fn run<T>(&self, what: &str, limit: u64, work: impl FnOnce() -> T) -> Option<T> {
        // In one step: it is read all the while.
        std::fs::write("at.new", format!("{} {what}", self.case)).unwrap();
        std::fs::rename("at.new", "at").unwrap();
        // From here the highest is counted anew.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = status("VmRSS:");
        let start = Instant::now();
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let (took, peak) = (start.elapsed(), status("VmHWM:"));
        let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
        if !panics.is_empty() || done.is_err() {
            self.found(&format!("panics: {}", panics.join("\n")));
        }
        if peak > before + limit {
            self.found(&format!("holds {} MiB at its peak; {} MiB may be held", (peak - before) >> 20, limit >> 20));
        }
        if took > HANG / 2 {
            self.found(&format!("takes {took:?}"));
        }
        done.ok()
    }

    /// Counts what was answered nevertheless, and what was refused.
    fn count(&self, answered: bool) {
        if answered { &ANSWERED } else { &REFUSED }.fetch_add(1, Ordering::Relaxed);
    }

    fn found(&self, what: &str) -> ! {
        // Frames of the standard library and the runtime say nothing.
        let ours = |line: &&str| !line.contains("/rustc/") && !line.contains("/tokio-");
        eprintln!("{}", what.lines().filter(ours).take(60).collect::<Vec<_>>().join("\n"));
        std::process::exit(1)
    }
}

/// A line of the process's status, in bytes.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// The folder of published data.
fn published() -> Option<PathBuf> {
    super::data("").map(PathBuf::from)
}
