//! Tangent vectors at the origin of a product of spaces as points.

use candle_core::{D, Result, Tensor};

use crate::program::layers::expressions::expression::Rowwise;
use crate::spaces::product::{Product, Sign};
use crate::spaces::space::with_curvatures;

/// Points of the product: the vectors, the code, and the curvature of each.
#[derive(Debug)]
pub(crate) struct ProductPoints(pub Product);

impl Rowwise for ProductPoints {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let mut raw = w.iter();
        let mut curvatures: Vec<Tensor> =
            self.0.0.iter().map(|(sign, _)| sign.curvature(&mut raw, &x[0])).collect::<Result<_>>()?;
        if x.len() > 1 {
            curvatures.push(Sign::Zero.curvature(&mut raw, &x[0])?);
        }
        with_curvatures(&Tensor::cat(x, D::Minus1)?, &curvatures)
    }
}
