//! Panics that are not defects of the engine, on its own threads. Where a file is damaged or the disk is full, some of the
//! packages that read and write files panic; where a column outgrows its 32-bit offsets, those that build it do. The
//! statement gets an error, as for any panic, and the panic's own text goes to the log, not to standard error as well.

use std::collections::VecDeque;
use std::fmt;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once, PoisonError};

use crate::{ErrorKind, Raised};

/// The name of the threads that run statements.
pub const THREAD: &str = "query";

/// Packages whose panics are faults of a file: the beginnings of `name-version`, after which the folders of their sources
/// are named, which is all that a panic's location says. A test holds them against Cargo.lock.
const READERS: [&str; 12] = [
    "arrow-",
    "bytes-",
    "parquet-",
    "lz4_flex-",
    "zstd-",
    "flate2-",
    "zip-",
    "datafusion-datasource",
    "object_store-",
    "deltalake",
    "buoyant_kernel",
    "rusqlite-",
];

/// The cause of a panic that is no defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    File,
    /// A column of more than 2 GB of text, or two thousand million items.
    Size,
}

/// The panic of those who wait for a shared computation, as for the rows that a join looks up, that has panicked before.
const ECHO: &str = "inner future panicked during poll";

/// The latest panics of statements, of which any number may run at once; those without a cause were shown.
static RECENT: Mutex<VecDeque<(String, Option<Cause>)>> = Mutex::new(VecDeque::new());
const MOST_RECENT: usize = 64;

/// Installs a hook that hands such panics to the log instead of standard error, and all others to the hook before it.
pub fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(THREAD) {
                return before(panic);
            }
            let text = panic.payload_as_str().unwrap_or_default();
            let cause = {
                let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
                let cause = if text == ECHO { recent.front().and_then(|(_, cause)| *cause) } else { cause(panic) };
                recent.truncate(MOST_RECENT - 1);
                recent.push_front((text.to_owned(), cause));
                cause
            };
            match cause {
                Some(_) => tracing::warn!("a statement is ended: {panic}"),
                None => before(panic),
            }
        }));
    });
}

fn cause(panic: &PanicHookInfo<'_>) -> Option<Cause> {
    let text = panic.payload_as_str().unwrap_or_default();
    // In the sources of a package, whose folder is named after it.
    let source = panic.location().map(|place| place.file()).unwrap_or_default();
    let of = |package: &str| source.split(['/', '\\']).any(|part| part.starts_with(package));
    if text.contains("offset overflow") || of("arrow-string-") {
        return Some(Cause::Size);
    }
    // A length that a file claims and that no allocation could have; the location is in the standard library.
    (text == "capacity overflow" || READERS.iter().any(|reader| of(reader))).then_some(Cause::File)
}

/// Whether a panic, by its text, is the fault of a file that was read.
pub fn is_of_file(panic: &str) -> bool {
    let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    recent.iter().find(|(text, _)| text == panic).is_some_and(|(_, cause)| *cause == Some(Cause::File))
}

/// The error of a statement that a panic ended.
pub fn raised(panic: &str) -> Raised {
    let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    match recent.iter().find(|(text, _)| text == panic) {
        Some((_, Some(Cause::File))) => Raised::new(
            ErrorKind::Files,
            format!("a file cannot be read or written: it is damaged, or the disk is full ({panic})"),
        ),
        Some((_, Some(Cause::Size))) => Raised::new(
            ErrorKind::Data,
            format!("the text or lists of rows that are computed together take more than {} bytes", i32::MAX),
        )
        .advise("make them shorter, or SET datafusion.execution.batch_size to fewer rows"),
        _ => Raised::new(
            ErrorKind::Internal,
            format!("the statement failed by a defect of the engine, please report it: {panic}"),
        ),
    }
}

/// The error of a statement one of whose tasks panicked, by the text of that task's error, which quotes the panic at its end.
pub(super) fn of_task(error: &impl fmt::Display) -> Raised {
    let text = error.to_string();
    let panic = text.split_once(" panicked with message \"").map_or(text.as_str(), |(_, panic)| panic);
    raised(panic.trim_end_matches('"'))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crate::panic_text;
    use futures::FutureExt;

    use super::*;

    #[test]
    fn who_waits_for_what_has_panicked_is_told_why() {
        quiet();
        let panics = || {
            let shared = async { drop(Vec::<u8>::with_capacity(std::hint::black_box(usize::MAX))) }.shared();
            [shared.clone(), shared].map(|waits| {
                let ended = catch_unwind(AssertUnwindSafe(|| futures::executor::block_on(waits)));
                panic_text(&*ended.unwrap_err()).to_owned()
            })
        };
        let texts = std::thread::Builder::new().name(THREAD.to_owned()).spawn(panics).unwrap().join().unwrap();
        assert_eq!(texts, ["capacity overflow", ECHO]);
        for text in texts {
            let error = raised(&text);
            assert!(error.text().starts_with("a file cannot be read or written"), "{error}");
            assert_eq!(error.kind(), ErrorKind::Files);
        }
        assert_eq!(raised("another").kind(), ErrorKind::Internal);
    }

    #[test]
    fn every_reader_is_a_package_of_this_build() {
        let lock = include_str!("../../../Cargo.lock");
        let value = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
        let mut packages = Vec::new();
        for (name, version) in lock.lines().zip(lock.lines().skip(1)) {
            if name.starts_with("name = ") && version.starts_with("version = ") {
                packages.push(format!("{}-{}", value(name), value(version)));
            }
        }
        assert!(packages.len() > 100, "{}", packages.len());
        for reader in READERS {
            let found = packages.iter().any(|package| package.starts_with(reader));
            assert!(found, "{reader}: the package has another name now, or is gone: see who reads its files instead");
        }
    }
}
