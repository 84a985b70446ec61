//! The bias of a layer on the pseudo-hyperboloid (Xiong et al. 2022).

use candle_core::{Result, Tensor};

use super::Translation;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::pseudo_hyperboloid;

/// `log_o` of the points of tangent vectors at the origin, moved by a bias.
#[derive(Debug)]
pub(crate) struct PseudoHyperbolicBias(pub Translation);

impl Rowwise for PseudoHyperbolicBias {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let radius = self.0.curvature.size(w, &x[0])?.recip()?;
        pseudo_hyperboloid::translate(&x[0], &w[0], self.0.columns, &radius)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(&self.0)
    }
}
