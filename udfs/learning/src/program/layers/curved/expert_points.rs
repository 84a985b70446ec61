//! Points of a product of experts' spaces, with the share of each expert (Guo et al. 2025, Eq. 8 and 9).

use candle_core::{D, Result, Tensor};

use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::product::{Product, Sign};
use crate::spaces::space::with_curvatures;
use crate::spaces::{sigmoid, softplus_of};

/// Points of the product with the shares of the experts: the experts' vectors, their curvatures, the shares.
#[derive(Debug)]
pub(crate) struct ExpertPoints(pub Product);

impl Rowwise for ExpertPoints {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (shares, vectors) = (&x[x.len() - 1], &x[..x.len() - 1]);
        let mut raw = w.iter();
        let curvatures: Vec<Tensor> =
            self.0.0.iter().map(|(sign, _)| sign.curvature(&mut raw, shares)).collect::<Result<_>>()?;
        let points = with_curvatures(&Tensor::cat(vectors, D::Minus1)?, &curvatures)?;
        Tensor::cat(&[&points, shares], D::Minus1)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// Rows read the curvatures.
impl RowKernel for ExpertPoints {
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut raw = w.iter();
        let curvature = |(sign, _): &(Sign, usize)| match sign {
            Sign::Zero => 0.0,
            sign => raw.next().map_or(0.0, |raw| sign.factor() * softplus_of(raw[0])),
        };
        vec![self.0.0.iter().map(curvature).collect()]
    }

    fn pull(&self, w: &[Vec<f64>], _: &[Vec<f64>], d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let curved = self.0.0.iter().zip(&d_read[0]).filter(|((sign, _), _)| *sign != Sign::Zero);
        curved.zip(w).map(|(((sign, _), d), raw)| vec![sign.factor() * sigmoid(raw[0]) * d]).collect()
    }

    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let (experts, width) = (self.0.0.len(), x.len() / n.max(1));
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width + experts)) {
            let (vectors, shares) = x.split_at(width - experts);
            y[..vectors.len()].copy_from_slice(vectors);
            y[vectors.len()..width].copy_from_slice(&read[0]);
            y[width..].copy_from_slice(shares);
        }
    }

    fn gradients(&self, n: usize, x: &[f64], _: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (experts, width) = (self.0.0.len(), x.len() / n.max(1));
        for (d_y, d_x) in d_y.chunks_exact(width + experts).zip(d_x.chunks_exact_mut(width)) {
            let (of_vectors, of_shares) = d_x.split_at_mut(width - experts);
            of_vectors.iter_mut().zip(d_y).for_each(|(d_x, d_y)| *d_x += d_y);
            d_read[0].iter_mut().zip(&d_y[of_vectors.len()..]).for_each(|(d_c, d_y)| *d_c += d_y);
            of_shares.iter_mut().zip(&d_y[width..]).for_each(|(d_x, d_y)| *d_x += d_y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::equations::row_kernels::{check, normal};

    #[test]
    fn a_kernel_is_its_definition() {
        let product = Product(vec![(Sign::Negative, 3), (Sign::Zero, 3), (Sign::Positive, 3), (Sign::Negative, 3)]);
        let mut inputs: Vec<Vec<f64>> = (0..4).map(|seed| normal(5 * 3, 0.6, seed)).collect();
        inputs.push(normal(5 * 4, 1.0, 9));
        check(&ExpertPoints(product), 5, &inputs, &[(1, vec![0.3]), (1, vec![-0.7]), (1, vec![1.1])]);
    }
}
