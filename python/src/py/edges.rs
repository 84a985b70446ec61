//! Edges as PyTorch Geometric has them: pairs of numbers in two rows, those of undirected graphs both ways.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::both_ways::{Key, Layout, Pieces, copy, count, few, sort, write};
use super::fresh::Fresh;

/// Pairs that are sorted before buckets and threads are made.
const FEW: usize = 1 << 14;

/// The pairs of a (2, m) array of int64, none of them negative or above 2^31, both ways: sorted and each once, as a (2, k) array
/// of int64. Time O(m log m).
#[pyfunction]
pub(super) fn both_ways<'py>(py: Python<'py>, pairs: PyBuffer<i64>) -> PyResult<Bound<'py, PyAny>> {
    let wrong = || PyValueError::new_err("edges are a contiguous array of two rows of numbers from 0 to 2^31 - 1");
    if pairs.shape().len() != 2 || pairs.shape()[0] != 2 || !pairs.is_c_contiguous() {
        return Err(wrong());
    }
    // A copy: who else has the array may write to it while threads read.
    let all = pairs.to_vec(py)?;
    let nodes = all.iter().max().map_or(0, |greatest| *greatest as u64 + 1);
    if all.iter().any(|end| *end < 0) || nodes > 1 << 31 {
        return Err(wrong());
    }
    let (sources, targets) = all.split_at(all.len() / 2);
    undirected(py, &[(sources, targets)], nodes)?.ok_or_else(wrong)
}

/// Pairs both ways, sorted and each once, as a (2, k) array; `None` if a number is not below `nodes`, or these are too many.
pub(super) fn undirected<'py>(py: Python<'py>, pieces: &Pieces<'_>, nodes: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
    if nodes > 1 << 31 {
        return Ok(None);
    }
    if pieces.iter().map(|(sources, _)| sources.len()).sum::<usize>() <= FEW {
        return few(pieces, nodes).map(|pairs| of_few(py, &pairs)).transpose();
    }
    let layout = Layout::new(nodes);
    let Some(counts) = py.detach(|| count(pieces, nodes, layout)) else { return Ok(None) };
    if layout.is_narrow() {
        sorted::<u32>(py, pieces, layout, &counts, "uint32").map(Some)
    } else {
        sorted::<u64>(py, pieces, layout, &counts, "uint64").map(Some)
    }
}

fn of_few<'py>(py: Python<'py>, pairs: &[(i64, i64)]) -> PyResult<Bound<'py, PyAny>> {
    let mut array = Fresh::zeros(py, (2, pairs.len()), "int64")?;
    let (sources, targets) = array.items().split_at_mut(pairs.len());
    for ((source, target), pair) in sources.iter_mut().zip(targets).zip(pairs) {
        (*source, *target) = *pair;
    }
    Ok(array.array())
}

fn sorted<'py, K: Key + pyo3::buffer::Element>(
    py: Python<'py>,
    pieces: &Pieces<'_>,
    layout: Layout,
    counts: &[Vec<usize>],
    kind: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let mut keys = Fresh::<K>::zeros(py, (1, counts.iter().flatten().sum()), kind)?;
    let keys = keys.items();
    let ends = py.detach(|| sort(pieces, layout, counts, keys));
    let mut pairs = Fresh::zeros(py, (2, ends.iter().map(|(_, left)| left).sum()), "int64")?;
    let places = pairs.items();
    py.detach(|| write(layout, keys, &ends, places));
    Ok(pairs.array())
}

/// Pairs as they are, as a (2, m) array; `None` if a number is not below `nodes`.
pub(super) fn directed<'py>(py: Python<'py>, pieces: &Pieces<'_>, nodes: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
    let rows = pieces.iter().map(|(sources, _)| sources.len()).sum();
    let mut pairs = Fresh::zeros(py, (2, rows), "int64")?;
    let places = pairs.items();
    let known = py.detach(|| copy(pieces, nodes, places));
    Ok(known.then(|| pairs.array()))
}
