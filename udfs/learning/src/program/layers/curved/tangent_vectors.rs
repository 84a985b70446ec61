//! Tangent vectors at the origin as points of a product.

use candle_core::{Result, Tensor};

use crate::program::layers::expressions::expression::Rowwise;
use crate::spaces::Curvature;
use crate::spaces::space::with_curvatures;

/// Tangent vectors at the origin with the curvature of each factor beside them.
#[derive(Debug)]
pub(crate) struct TangentVectors {
    /// The number of factors.
    pub factors: usize,
    /// The curvature of all of them.
    pub curvature: Curvature,
}

impl Rowwise for TangentVectors {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        with_curvatures(&x[0], &vec![self.curvature.size(w, &x[0])?.neg()?; self.factors])
    }
}
