//! Rows of small tables, cached between statements while their files stay as they are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;

/// The most bytes of one answer that is cached.
const LARGEST: usize = 2 << 20;

/// The most bytes that all tables of the process keep together.
const BUDGET: usize = 32 << 20;

/// Files that changed less long ago may change again without a trace: the clocks of file systems tick this slowly.
const SETTLED: Duration = Duration::from_millis(50);

static HELD: AtomicUsize = AtomicUsize::new(0);

/// The cached rows of one table.
#[derive(Debug, Default)]
pub(crate) struct RowCache(Mutex<Cached>);

#[derive(Debug, Default)]
struct Cached {
    /// The version of the files, and when it was first seen.
    version: Option<(String, Instant)>,
    /// By the columns that were read: the rows and their bytes.
    rows: BTreeMap<Vec<usize>, (Vec<RecordBatch>, usize)>,
}

impl Cached {
    fn forget(&mut self) {
        let bytes: usize = std::mem::take(&mut self.rows).values().map(|(_, bytes)| bytes).sum();
        HELD.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        self.forget();
    }
}

impl RowCache {
    /// The rows of these columns: cached ones where the files are still at `version`, else what `read` reads.
    ///
    /// `version` is to be looked up just before the call. Rows are cached once a version has been seen for a while, so
    /// that whatever is written after they were read changes the version.
    pub(crate) fn get<E>(
        &self,
        version: String,
        columns: &[usize],
        read: impl FnOnce() -> Result<Vec<RecordBatch>, E>,
    ) -> Result<Vec<RecordBatch>, E> {
        self.get_at(Instant::now(), version, columns, read)
    }

    fn get_at<E>(
        &self,
        now: Instant,
        version: String,
        columns: &[usize],
        read: impl FnOnce() -> Result<Vec<RecordBatch>, E>,
    ) -> Result<Vec<RecordBatch>, E> {
        let settled = {
            let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &cached.version {
                Some((known, seen)) if *known == version => {
                    if let Some((rows, _)) = cached.rows.get(columns) {
                        return Ok(rows.clone());
                    }
                    now.duration_since(*seen) >= SETTLED
                }
                _ => {
                    cached.forget();
                    cached.version = Some((version.clone(), now));
                    false
                }
            }
        };
        let rows = read()?;
        let bytes: usize = rows.iter().map(RecordBatch::get_array_memory_size).sum();
        if settled && bytes <= LARGEST {
            let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let same = cached.version.as_ref().is_some_and(|(known, _)| *known == version);
            if same && !cached.rows.contains_key(columns) && take(bytes) {
                cached.rows.insert(columns.to_vec(), (rows.clone(), bytes));
            }
        }
        Ok(rows)
    }
}

/// Takes bytes from the budget, if it has them.
fn take(bytes: usize) -> bool {
    let taken = HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
        held.checked_add(bytes).filter(|held| *held <= BUDGET)
    });
    taken.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array};
    use std::sync::Arc;

    fn rows(values: Vec<i64>) -> Vec<RecordBatch> {
        let column = Arc::new(Int64Array::from(values)) as ArrayRef;
        vec![RecordBatch::try_from_iter([("x", column)]).unwrap()]
    }

    /// Gets rows at a time; says whether they had to be read.
    fn get(
        cached: &RowCache,
        now: Instant,
        version: &str,
        columns: &[usize],
        values: Vec<i64>,
    ) -> (Vec<RecordBatch>, bool) {
        let mut read = false;
        let found = cached.get_at(now, version.to_owned(), columns, || {
            read = true;
            Ok::<_, ()>(rows(values))
        });
        (found.unwrap(), read)
    }

    #[test]
    fn rows_are_kept_once_their_files_have_settled_and_until_they_change() {
        let cached = RowCache::default();
        let start = Instant::now();
        let later = start + SETTLED;
        assert!(get(&cached, start, "a", &[0], vec![1]).1);
        // Too fresh: a change within the same tick of the clock would not show.
        assert!(get(&cached, start, "a", &[0], vec![2]).1);
        assert!(get(&cached, later, "a", &[0], vec![3]).1);
        assert_eq!(get(&cached, later, "a", &[0], vec![4]), (rows(vec![3]), false));
        // Other columns are another answer.
        assert_eq!(get(&cached, later, "a", &[1], vec![5]), (rows(vec![5]), true));
        assert_eq!(get(&cached, later, "a", &[1], vec![6]), (rows(vec![5]), false));
        // A changed file.
        assert_eq!(get(&cached, later, "b", &[0], vec![7]), (rows(vec![7]), true));
        assert_eq!(get(&cached, later, "b", &[0], vec![8]), (rows(vec![8]), true));
        assert_eq!(get(&cached, later + SETTLED, "b", &[1], vec![9]), (rows(vec![9]), true));
        assert_eq!(get(&cached, later, "b", &[1], vec![10]), (rows(vec![9]), false));
    }

    #[test]
    fn large_answers_and_errors_are_not_kept() {
        let cached = RowCache::default();
        let start = Instant::now();
        let later = start + SETTLED;
        let large = vec![0; LARGEST / 8 + 1];
        get(&cached, start, "a", &[0], vec![]);
        assert!(get(&cached, later, "a", &[0], large.clone()).1);
        assert!(get(&cached, later, "a", &[0], large).1);
        assert_eq!(cached.get_at(later, "a".to_owned(), &[0], || Err("no")), Err("no"));
        assert!(get(&cached, later, "a", &[0], vec![1]).1);
        assert!(!get(&cached, later, "a", &[0], vec![2]).1);
    }
}
