//! Panics of the packages that read and write files, on the engine's own threads: where a file is damaged or the disk is
//! full, some packages panic. The statement gets an error, as for any panic; a person who waits for an answer is not shown
//! the panic's own text as well.

use std::collections::VecDeque;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once, PoisonError};

/// The name of the threads that run statements.
pub(crate) const THREAD: &str = "query";

/// Packages whose panics are faults of a file, by how the folders of their sources begin.
const READERS: [&str; 13] = [
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
    "delta_kernel",
    "rusqlite-",
];

/// The last panics that were not shown: any number of statements may run at once.
static SEEN: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
const MOST_SEEN: usize = 64;

/// Hands such panics to the log instead of standard error; all others to whoever was asked before.
pub(crate) fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match of_a_reader(panic) {
            true => {
                tracing::warn!("a statement is ended: {panic}");
                let text = panic.payload_as_str().unwrap_or_default().to_owned();
                let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
                seen.truncate(MOST_SEEN - 1);
                seen.push_front(text);
            }
            false => before(panic),
        }));
    });
}

fn of_a_reader(panic: &PanicHookInfo<'_>) -> bool {
    let ours = std::thread::current().name() == Some(THREAD);
    // A length that a file claims and nobody could hold; the place is in the standard library.
    if ours && panic.payload_as_str() == Some("capacity overflow") {
        return true;
    }
    // In the sources of a package, whose folder is named after it.
    let source = panic.location().map(|place| place.file()).unwrap_or_default();
    ours && source.split(['/', '\\']).any(|part| READERS.iter().any(|reader| part.starts_with(reader)))
}

/// What a statement that a panic ended is told.
pub(crate) fn told(panic: &str) -> String {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    match seen.iter().any(|text| text == panic) {
        true => format!("a file cannot be read or written: it is damaged, or the disk is full ({panic})"),
        false => format!("the statement failed by a defect of the engine, please report it: {panic}"),
    }
}
