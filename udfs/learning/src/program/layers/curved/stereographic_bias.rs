//! The bias of a layer in a space of constant curvature, by stereographic coordinates.

use candle_core::{Result, Tensor};

use super::Translation;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::product::Sign;
use crate::spaces::{Curvature, Manifold, stereographic};

/// `log_0` of the points of tangent vectors at the origin, moved by a bias.
#[derive(Debug)]
pub(crate) struct StereographicBias {
    sign: Sign,
    kernel: Translation,
}

impl StereographicBias {
    /// In space of the sign of a curvature, which is the parameter after the bias; `columns` columns.
    pub fn new(sign: Sign, columns: usize) -> Self {
        let (manifold, curvature) = (Manifold::Ball, Curvature::Learned(1));
        let kernel = Translation { manifold, curvature, sign: -sign.factor(), scale: 1.0, columns };
        Self { sign, kernel }
    }
}

impl Rowwise for StereographicBias {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let kappa = self.sign.curvature(&mut w[1..].iter(), &x[0])?;
        let points = stereographic::exp0(&x[0], &kappa)?;
        let moved = stereographic::add(&points, &stereographic::exp0(&w[0], &kappa)?, &kappa)?;
        stereographic::log0(&moved, &kappa)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(&self.kernel)
    }
}
