//! Edges both ways, as PyTorch Geometric has those of undirected graphs.

use pyo3::buffer::ReadOnlyCell;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// The high bits of a source that choose its bucket: what is in one fits into a cache.
const BUCKET: u32 = 11;

/// The pairs of a (2, m) array of int64, each less than 2^31, both ways: sorted and each once, as a (2, k) array of int64.
/// Time O(m log m), memory 16 bytes an edge beside the answer.
#[pyfunction]
pub(super) fn both_ways<'py>(py: Python<'py>, pairs: pyo3::buffer::PyBuffer<i64>) -> PyResult<Bound<'py, PyByteArray>> {
    let wrong = || PyValueError::new_err("edges are a contiguous array of two rows of numbers from 0 to 2^31 - 1");
    let all = pairs.as_slice(py).filter(|_| pairs.shape().len() == 2 && pairs.shape()[0] == 2).ok_or_else(wrong)?;
    let greatest = all.iter().fold(0, |greatest, end| greatest | end.get() as u64);
    if greatest >= 1 << 31 {
        return Err(wrong());
    }
    let (mut keys, ends) = buckets(all, greatest);
    let keys = py.detach(|| {
        sort(&mut keys, &ends);
        keys.dedup();
        keys
    });
    PyByteArray::new_with(py, 2 * keys.len() * size_of::<i64>(), |bytes| {
        let (first, second) = bytes.split_at_mut(keys.len() * size_of::<i64>());
        let places = first.chunks_exact_mut(size_of::<i64>()).zip(second.chunks_exact_mut(size_of::<i64>()));
        for ((source, target), key) in places.zip(&keys) {
            source.copy_from_slice(&(key >> 32).to_ne_bytes());
            target.copy_from_slice(&(key & u64::from(u32::MAX)).to_ne_bytes());
        }
        Ok(())
    })
}

/// Every pair both ways, the source in the upper half of a number, in buckets by the high bits of the sources; and where each
/// bucket ends.
fn buckets(all: &[ReadOnlyCell<i64>], greatest: u64) -> (Vec<u64>, Vec<usize>) {
    let shift = (u64::BITS - greatest.leading_zeros()).saturating_sub(BUCKET);
    let mut places = vec![0; 1 << BUCKET];
    for end in all {
        places[(end.get() as u64 >> shift) as usize] += 1;
    }
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    let mut keys = vec![0; all.len()];
    let (sources, targets) = all.split_at(all.len() / 2);
    for (source, target) in sources.iter().zip(targets) {
        let (source, target) = (source.get() as u64, target.get() as u64);
        for (from, to) in [(source, target), (target, source)] {
            let place = &mut places[(from >> shift) as usize];
            keys[*place] = from << 32 | to;
            *place += 1;
        }
    }
    (keys, places)
}

/// Sorts each bucket, as many at once as there are processors.
fn sort(keys: &mut [u64], ends: &[usize]) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = keys.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let (mut rest, mut begin, mut first) = (keys, 0, 0);
        for (bucket, &end) in ends.iter().enumerate() {
            if end - begin < share && bucket + 1 < ends.len() {
                continue;
            }
            let (part, behind) = rest.split_at_mut(end - begin);
            let of_part = &ends[first..=bucket];
            scope.spawn(move || {
                let (mut part, mut before) = (part, begin);
                for end in of_part {
                    let (bucket, behind) = part.split_at_mut(end - before);
                    bucket.sort_unstable();
                    (part, before) = (behind, *end);
                }
            });
            (rest, begin, first) = (behind, end, bucket + 1);
        }
    });
}
