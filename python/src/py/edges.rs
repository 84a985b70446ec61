//! Edges both ways, as PyTorch Geometric has those of undirected graphs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Bits that one pass of the sort looks at.
const DIGIT: u32 = 11;

/// The pairs of a (2, m) array of int64, each less than 2^31, both ways: sorted and each once, as a (2, k) array of int64.
/// Time O(m), memory 32 bytes an edge beside the answer.
#[pyfunction]
pub(super) fn both_ways<'py>(py: Python<'py>, pairs: pyo3::buffer::PyBuffer<i64>) -> PyResult<Bound<'py, PyByteArray>> {
    let wrong = || PyValueError::new_err("edges are a contiguous array of two rows of numbers from 0 to 2^31 - 1");
    let all = pairs.as_slice(py).filter(|_| pairs.shape().len() == 2 && pairs.shape()[0] == 2).ok_or_else(wrong)?;
    let (sources, targets) = all.split_at(all.len() / 2);
    let mut keys = Vec::with_capacity(all.len());
    let mut greatest = 0;
    for (source, target) in sources.iter().zip(targets) {
        let (source, target) = (source.get() as u64, target.get() as u64);
        greatest |= source | target;
        keys.push(source << 32 | target);
        keys.push(target << 32 | source);
    }
    if greatest >= 1 << 31 {
        return Err(wrong());
    }
    let keys = py.detach(|| {
        let mut keys = sorted(keys, u64::BITS - greatest.leading_zeros());
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

/// Pairs of numbers of so many bits, the first in the upper half, in order: a radix sort from the least digit on.
fn sorted(mut keys: Vec<u64>, bits: u32) -> Vec<u64> {
    let mut other = vec![0; keys.len()];
    for half in [0, 32] {
        for low in (0..bits).step_by(DIGIT as usize) {
            let mask = (1_u64 << DIGIT.min(bits - low)) - 1;
            let digit = |key: u64| (key >> (half + low) & mask) as usize;
            let mut places = vec![0_usize; mask as usize + 1];
            keys.iter().for_each(|&key| places[digit(key)] += 1);
            let mut before = 0;
            for place in &mut places {
                before += std::mem::replace(place, before);
            }
            for &key in &keys {
                let place = &mut places[digit(key)];
                other[*place] = key;
                *place += 1;
            }
            std::mem::swap(&mut keys, &mut other);
        }
    }
    keys
}
