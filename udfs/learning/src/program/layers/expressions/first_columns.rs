//! The first columns of rows.

use candle_core::{D, Result, Tensor};

use super::expression::Rowwise;
use super::row_kernel::RowKernel;

/// The first columns, of this number.
#[derive(Debug)]
pub(crate) struct FirstColumns(pub usize);

impl Rowwise for FirstColumns {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        x[0].narrow(D::Minus1, 0, self.0)?.contiguous()
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

impl RowKernel for FirstColumns {
    fn values(&self, n: usize, x: &[f64], _: &[Vec<f64>], y: &mut [f64]) {
        let rows = x.chunks_exact(x.len() / n.max(1)).zip(y.chunks_exact_mut(self.0));
        rows.for_each(|(x, y)| y.copy_from_slice(&x[..self.0]));
    }

    fn gradients(&self, n: usize, _: &[f64], _: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], _: &mut [Vec<f64>]) {
        let width = d_x.len() / n.max(1);
        let rows = d_x.chunks_exact_mut(width).zip(d_y.chunks_exact(self.0));
        rows.for_each(|(d_x, d_y)| d_x.iter_mut().zip(d_y).for_each(|(d_x, d_y)| *d_x += d_y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::equations::row_kernels::{check, normal};

    #[test]
    fn a_kernel_is_its_definition() {
        check(&FirstColumns(4), 5, &[normal(5 * 7, 1.0, 1)], &[]);
    }
}
