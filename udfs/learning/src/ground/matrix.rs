//! A dense matrix as results hold it.

use super::Axis;

/// A dense row-major matrix without padding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// The number of columns.
    pub columns: usize,
    /// Row by row.
    pub values: Vec<f32>,
}

impl Matrix {
    /// A row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    pub(crate) fn unpadded(values: &[f32], n: usize, columns: Axis) -> Self {
        let stride = columns.stride();
        let values = (0..n).flat_map(|row| columns.positions().map(move |c| values[row * stride + c])).collect();
        Self { columns: columns.len(), values }
    }
}
