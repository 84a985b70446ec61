//! Arrays of NumPy that are filled before anyone sees them.

use std::slice;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

/// A new array. NumPy asks the system for huge pages, which are there with the first byte of each: memory of this size costs
/// more in pages of 4 kB than what is written to it.
pub(super) struct Fresh<'py, T: Element> {
    array: Bound<'py, PyAny>,
    buffer: PyBuffer<T>,
}

impl<'py, T: Element> Fresh<'py, T> {
    /// Zeros of NumPy's type `kind`, which is `T`.
    pub(super) fn zeros(py: Python<'py>, shape: (usize, usize), kind: &str) -> PyResult<Self> {
        let array = py.import("numpy")?.call_method1("zeros", (shape, kind))?;
        let buffer = PyBuffer::get(&array)?;
        Ok(Self { array, buffer })
    }

    /// Its items, row after row.
    pub(super) fn items(&mut self) -> &mut [T] {
        match self.buffer.item_count() {
            0 => &mut [],
            // SAFETY: NumPy has just made the array: its memory is contiguous, aligned, set to zero and of this many items, whose
            // type the buffer has checked, and nobody else has a reference to it before `array` gives it away.
            count => unsafe { slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), count) },
        }
    }

    /// The array, filled.
    pub(super) fn array(self) -> Bound<'py, PyAny> {
        self.array
    }
}
