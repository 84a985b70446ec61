//! Where the columns of a matrix stand in the rows of its slot, for kernels that read rows without padding.

use std::ops::Range;

use crate::ground::Axis;

/// The real columns of a row, a range of stored ones after the other.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    stride: usize,
    runs: Vec<Range<usize>>,
    len: usize,
}

impl Columns {
    pub(super) fn new(axis: Axis) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for at in axis.positions() {
            match runs.last_mut() {
                Some(run) if run.end == at => run.end += 1,
                _ => runs.push(at..at + 1),
            }
        }
        Self { stride: axis.stride(), runs, len: axis.len() }
    }

    /// The real columns.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends a row of a matrix.
    pub(super) fn read(&self, matrix: &[f32], row: usize, out: &mut Vec<f64>) {
        let row = &matrix[row * self.stride..][..self.stride];
        self.runs.iter().for_each(|run| out.extend(row[run.clone()].iter().map(|&x| f64::from(x))));
    }

    /// Writes a row of a matrix.
    pub(super) fn write(&self, values: &[f64], matrix: &mut [f32], row: usize) {
        self.each(values, matrix, row, |to, x| *to = *x as f32);
    }

    /// Adds to a row of a matrix; `number` makes an `f32` of a value.
    pub(super) fn add<T: Copy>(&self, values: &[T], number: impl Fn(T) -> f32, matrix: &mut [f32], row: usize) {
        self.each(values, matrix, row, |to, x| *to += number(*x));
    }

    fn each<T>(&self, mut values: &[T], matrix: &mut [f32], row: usize, put: impl Fn(&mut f32, &T)) {
        let row = &mut matrix[row * self.stride..][..self.stride];
        for run in &self.runs {
            let (here, rest) = values.split_at(run.len());
            values = rest;
            row[run.clone()].iter_mut().zip(here).for_each(|(to, x)| put(to, x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_written_without_the_padding_of_their_groups() {
        for axis in [Axis::exact(5), Axis::padded(1, 5), Axis::padded(3, 5), Axis::padded(2, 8), Axis::padded(1, 0)] {
            let columns = Columns::new(axis);
            let matrix: Vec<f32> = (0..2 * axis.stride()).map(|at| at as f32).collect();
            let mut row = Vec::new();
            columns.read(&matrix, 1, &mut row);
            let expected: Vec<f64> = axis.positions().map(|at| (axis.stride() + at) as f64).collect();
            assert_eq!((row.len(), &row), (columns.len(), &expected));
            let mut written = vec![0f32; matrix.len()];
            columns.write(&row, &mut written, 1);
            columns.add(&row, |x| 2.0 * x as f32, &mut written, 1);
            let real: Vec<usize> = axis.positions().map(|at| axis.stride() + at).collect();
            for (at, found) in written.iter().enumerate() {
                assert_eq!(*found, if real.contains(&at) { 3.0 * matrix[at] } else { 0.0 });
            }
        }
    }
}
