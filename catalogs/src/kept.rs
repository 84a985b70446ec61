//! Rows of small tables, kept between statements while their files stay as they are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;

/// The most bytes of one answer that is kept.
const LARGEST: usize = 2 << 20;

/// The most bytes that all tables of the process keep together.
const BUDGET: usize = 32 << 20;

/// Files that changed less long ago may change again without a trace: the clocks of file systems tick this slowly.
const SETTLED: Duration = Duration::from_millis(50);

static HELD: AtomicUsize = AtomicUsize::new(0);

/// What was read of one table.
#[derive(Debug, Default)]
pub(crate) struct KeptRows(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The version of the files, and when it was first seen.
    version: Option<(String, Instant)>,
    /// By the columns asked for: the rows and their bytes.
    rows: BTreeMap<Vec<usize>, (Vec<RecordBatch>, usize)>,
}

impl Kept {
    fn forget(&mut self) {
        let bytes: usize = std::mem::take(&mut self.rows).values().map(|(_, bytes)| bytes).sum();
        HELD.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.forget();
    }
}

impl KeptRows {
    /// The rows of these columns: kept ones where the files are still at `version`, else what `read` reads.
    ///
    /// `version` is to be looked up just before the call. Rows are kept once a version has been seen for a while, so
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
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &kept.version {
                Some((known, seen)) if *known == version => {
                    if let Some((rows, _)) = kept.rows.get(columns) {
                        return Ok(rows.clone());
                    }
                    now.duration_since(*seen) >= SETTLED
                }
                _ => {
                    kept.forget();
                    kept.version = Some((version.clone(), now));
                    false
                }
            }
        };
        let rows = read()?;
        let bytes: usize = rows.iter().map(RecordBatch::get_array_memory_size).sum();
        if settled && bytes <= LARGEST {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let same = kept.version.as_ref().is_some_and(|(known, _)| *known == version);
            if same && !kept.rows.contains_key(columns) && take(bytes) {
                kept.rows.insert(columns.to_vec(), (rows.clone(), bytes));
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
        kept: &KeptRows,
        now: Instant,
        version: &str,
        columns: &[usize],
        values: Vec<i64>,
    ) -> (Vec<RecordBatch>, bool) {
        let mut read = false;
        let found = kept.get_at(now, version.to_owned(), columns, || {
            read = true;
            Ok::<_, ()>(rows(values))
        });
        (found.unwrap(), read)
    }

    #[test]
    fn rows_are_kept_once_their_files_have_settled_and_until_they_change() {
        let kept = KeptRows::default();
        let start = Instant::now();
        let later = start + SETTLED;
        assert!(get(&kept, start, "a", &[0], vec![1]).1);
        // Too fresh: a change within the same tick of the clock would not show.
        assert!(get(&kept, start, "a", &[0], vec![2]).1);
        assert!(get(&kept, later, "a", &[0], vec![3]).1);
        assert_eq!(get(&kept, later, "a", &[0], vec![4]), (rows(vec![3]), false));
        // Other columns are another answer.
        assert_eq!(get(&kept, later, "a", &[1], vec![5]), (rows(vec![5]), true));
        assert_eq!(get(&kept, later, "a", &[1], vec![6]), (rows(vec![5]), false));
        // A changed file.
        assert_eq!(get(&kept, later, "b", &[0], vec![7]), (rows(vec![7]), true));
        assert_eq!(get(&kept, later, "b", &[0], vec![8]), (rows(vec![8]), true));
        assert_eq!(get(&kept, later + SETTLED, "b", &[1], vec![9]), (rows(vec![9]), true));
        assert_eq!(get(&kept, later, "b", &[1], vec![10]), (rows(vec![9]), false));
    }

    #[test]
    fn large_answers_and_errors_are_not_kept() {
        let kept = KeptRows::default();
        let start = Instant::now();
        let later = start + SETTLED;
        let large = vec![0; LARGEST / 8 + 1];
        get(&kept, start, "a", &[0], vec![]);
        assert!(get(&kept, later, "a", &[0], large.clone()).1);
        assert!(get(&kept, later, "a", &[0], large).1);
        assert_eq!(kept.get_at(later, "a".to_owned(), &[0], || Err("no")), Err("no"));
        assert!(get(&kept, later, "a", &[0], vec![1]).1);
        assert!(!get(&kept, later, "a", &[0], vec![2]).1);
    }
}
